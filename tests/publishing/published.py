"""Published agents for tests, and questions to them in node."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import azero
from azero.games import Game, State
from azero.games.state import target_of
from azero.mcts import TreeSearch, rank_moves
from azero.mcts.proving.wins import wins_in_one
from azero.nets.architectures.contract import fold
from azero.publishing.build import Published

NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def write(published: Published, stem: Path) -> Path:
    """Writes an agent's files for `ask.mjs`."""
    stem.with_suffix(".wasm").write_bytes(published.wasm)
    stem.with_suffix(".weights").write_bytes(published.weights)
    stem.with_suffix(".json").write_text(json.dumps(published.manifest))
    return stem


class Asked:
    """A published agent that answers questions, in node; see `ask.mjs`."""

    def __init__(self, stem: Path):
        assert NODE is not None
        command = [NODE, str(Path(__file__).with_name("ask.mjs")), str(stem)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Asked":
        return self

    def __exit__(self, *_) -> None:
        self._process.communicate()

    def answer(self, question: dict[str, Any]) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def ask(stem: Path, questions: list[dict[str, Any]]) -> list[Any]:
    """Returns the answers of a published agent."""
    with Asked(stem) as asked:
        return [asked.answer(each) for each in questions]


def sha1(array: np.ndarray) -> str:
    return hashlib.sha1(array.tobytes()).hexdigest()


def random_games(game, num_games: int, seed: int = 0) -> list[list[int]]:
    """Returns the actions of random games."""
    chooser, games = np.random.default_rng(seed), []
    for _ in range(num_games):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(int(chooser.choice(state.legal_actions())))
        games.append(state.history())
    return games


def positions_of(game: Game, number: int) -> list[list[int]]:
    """Returns actions that lead to positions of random games, in which the game goes on."""
    chooser = np.random.default_rng(1)
    return [each[: int(chooser.integers(len(each)))] for each in random_games(game, number, seed=2)]


def state_after(game: Game, actions: list[int]) -> State:
    state = game.new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


def visits_of(search: TreeSearch) -> dict[int, tuple]:
    """Returns visits, value and proof of the root's moves by action."""
    return {each.action: (each.visits, each.value, each.proven) for each in rank_moves(search)}


def visits_in(answer: dict[str, Any]) -> dict[int, tuple]:
    """Returns the same of an answer of `ask.mjs`."""
    return {each["action"]: (each["visits"], each["value"], each["proven"]) for each in answer["moves"]}


def described(state: State, with_moves: bool = True) -> list[Any]:
    """Returns what `ask.mjs` says of a position."""
    is_over, legal = state.is_terminal(), state.legal_actions()
    of_moves = list[Any]()
    if with_moves:
        of_moves = [[target_of(state, each) for each in legal], [] if is_over else wins_in_one(state).tolist()]
    return [
        legal,
        None if is_over else state.current_player(),
        int(state.returns()[0]) if is_over else None,
        str(state.hash_key()),
        state.final_score(),
        hashlib.sha1(state.record.tobytes()).hexdigest(),
        sha1(state.planes()),
        *of_moves,
    ]


class TableEvaluator:
    """The evaluator of `ask.mjs` that looks up a hash of the planes."""

    rows, is_on_device = 0, False

    def __init__(self, num_actions: int):
        self.num_actions = num_actions

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        size, whole = planes[0].size, (1 << 32) - 1
        factors = (np.arange(1, size + 1, dtype=np.int64) * 40503).astype(np.int32).astype(np.int64)
        steps = np.floor(8 * planes.reshape(len(planes), size).astype(np.float64) + 0.5).astype(np.int64)
        hashes = (steps @ factors) & whole
        actions = np.arange(self.num_actions, dtype=np.int64)
        logits = (((hashes[:, None] * (2 * actions + 7919)) & whole) >> 8 & 0xFFFF) / 8192 - 4
        values = (((hashes * 69069) & whole) >> 8 & 0xFFFF) / 32768 - 1
        return logits.astype(np.float32), values.astype(np.float32)


class NetEvaluator:
    """The net of a checkpoint by torch, with weights as a page has them."""

    rows, is_on_device = 0, False

    def __init__(self, name: str, has_halves: bool = True):
        checkpoint = azero.load_checkpoint(name)
        self.game, self._net = checkpoint.game, fold(checkpoint.net)
        for each in self._net.parameters() if has_halves else ():
            each.copy_(each.half().float())

    def judge(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and probabilities of win, draw and loss [B, 3]."""
        with torch.no_grad():
            policy, results = self._net(torch.from_numpy(planes))
            return policy.numpy(), torch.softmax(results, 1).numpy()

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, results = self.judge(planes)
        return logits, results[:, 0] - results[:, 2]
