"""Published agents for tests, and questions to them in node."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from azero.games import State
from azero.games.state import target_of
from azero.mcts.proving.wins import wins_in_one
from azero.publishing.build import Published

NODE = shutil.which("node")

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def write(published: Published, stem: Path) -> Path:
    """Writes an agent's files for `ask.mjs`."""
    stem.with_suffix(".wasm").write_bytes(published.wasm)
    stem.with_suffix(".weights").write_bytes(published.weights)
    stem.with_suffix(".json").write_text(json.dumps(published.manifest))
    return stem


def ask(stem: Path, questions: list[dict[str, Any]]) -> list[Any]:
    """Returns the answers of a published agent; see `ask.mjs`."""
    assert NODE is not None
    command = [NODE, str(Path(__file__).with_name("ask.mjs")), str(stem)]
    done = subprocess.run(command, input=json.dumps(questions), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


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


def described(state: State) -> list[Any]:
    """Returns what `ask.mjs` says of a position."""
    is_over, legal = state.is_terminal(), state.legal_actions()
    return [
        legal,
        None if is_over else state.current_player(),
        int(state.returns()[0]) if is_over else None,
        str(state.hash_key()),
        state.final_score(),
        hashlib.sha1(state.record.tobytes()).hexdigest(),
        sha1(state.planes()),
        [target_of(state, action) for action in legal],
        [] if is_over else wins_in_one(state).tolist(),
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
