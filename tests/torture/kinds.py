"""The kinds of input that azero reads: how to draw a hostile one, how to read it, and which command reads it."""

import io
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import save
from selfplay.games import TIC_TAC_TOE, some_games
from training.runs import TINY, tiny_config, write_config

from azero.arena.agents.engines import engine
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import split_program
from azero.arena.solved.files import read_benchmark
from azero.config.reading import load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.games.make import make_trusted_game
from azero.mcts.rollouts.features import NUM_PATTERNS
from azero.mcts.rollouts.weights import RolloutCard, load_rollout, save_rollout
from azero.nets.checkpoint import load_checkpoint
from azero.runs.shards import load_shard, save_shard
from azero.runs.state import NOTES_OF_PLAY, Progress
from azero.system.tensor_files import read_tensors
from azero.training.learning.trainer import Trainer
from azero.training.run import Run, load_state, save_state

from . import nasty

GAME = TIC_TAC_TOE
CONFIG = tiny_config()
TRAINER = Trainer(CONFIG, GAME)


class Kind(NamedTuple):
    """A kind of input. An input is plain data of JSON."""

    name: str
    draw: Callable[[random.Random], Any]
    read: Callable[[Any, Path], object]  # given the input and the folder of the samples
    words: Callable[[Any, Path], list[str]]  # the command that reads it


# --- signed files ---

SAMPLES = {
    "card": "net.safetensors",
    "shard": "shard.safetensors",
    "state": "run/state.safetensors",
    "rollout": "rollout.safetensors",
}
_LOADED: dict[str, tuple[dict, dict[str, np.ndarray]]] = {}


def make_samples(folder: Path) -> None:
    """Writes a valid file of each kind into an empty folder."""
    run = _make_run(folder)
    write_config(_made(folder / "config"))
    run.save_net(folder / SAMPLES["card"], TRAINER.candidate(), Progress())
    save_shard(folder / SAMPLES["shard"], some_games(GAME), GAME)
    weights = np.zeros(NUM_PATTERNS, np.float32), np.zeros(GAME.num_actions, np.float32)
    save_rollout(folder / SAMPLES["rollout"], *weights, RolloutCard(str(GAME), "", 10, 10, 1, 0, {}))
    for kind, name in SAMPLES.items():
        _LOADED[kind] = read_tensors(folder / name, name)


def _make_run(folder: Path) -> Run:
    """Makes a run in its first iteration, after self-play."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    run = Run.create(_made(folder / "run"), CONFIG, GAME)
    run.save_net(run.checkpoint_path(0), TRAINER.candidate(), Progress())
    save_shard(run.shard_path("00001-0000"), some_games(GAME), GAME)
    progress = Progress(shards=["00001-0000"], stage="train", notes=dict.fromkeys(NOTES_OF_PLAY, 1))
    save_state(run.folder, CONFIG, TRAINER, progress)
    return run


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _drawn_changes(kind: str) -> Callable[[random.Random], Any]:
    return lambda draw: nasty.changes(draw, *_LOADED[kind])


def _write(kind: str, given: Any, folder: Path) -> Path:
    """Writes the hostile file; returns its path."""
    card, tensors = nasty.apply_changes(*_LOADED[kind], given)
    path = folder / SAMPLES[kind]
    path.write_bytes(save(tensors, {"azero": json.dumps(card, sort_keys=True)}))
    return path


def _read_card(given: Any, folder: Path) -> None:
    load_checkpoint(_write("card", given, folder))


def _read_shard(given: Any, folder: Path) -> None:
    load_shard(_write("shard", given, folder), GAME)


def _read_state(given: Any, folder: Path) -> None:
    _write("state", given, folder)
    load_state(folder / "run", TRAINER)


def _read_rollout(given: Any, folder: Path) -> None:
    load_rollout(_write("rollout", given, folder), GAME)


# --- texts ---


def _drawn(*valid: str) -> Callable[[random.Random], str]:
    return lambda draw: nasty.text(draw, draw.choice(valid))


def _draw_config(draw: random.Random) -> str:
    """Draws a setting of a config with a hostile value, or a text with hostile letters."""
    section = draw.choice([name for name in TINY if isinstance(TINY[name], dict) and TINY[name]])
    key = draw.choice(sorted(TINY[section]))
    if draw.random() < 0.5:
        return f"[{section}]\n{key} = {json.dumps(nasty.value(draw))}\n"
    return nasty.text(draw, f'[game]\nname = "tic_tac_toe"\n[{section}]\n{key} = {json.dumps(TINY[section][key])}\n')


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return path


def _read_game(given: str, folder: Path) -> None:
    make_trusted_game(given)


def _read_agent(given: str, folder: Path) -> None:
    if not split_program(given):  # programs are the user's own
        make_agent(given, GAME, max_nodes=1000).close()


def _read_moves(given: str, folder: Path) -> None:
    refusals = []
    for game in MOVED:
        try:
            game.state_from_moves(given)
        except BadInput as error:
            refusals.append(error)
    if refusals:
        raise refusals[-1]


MOVED = [
    make_game(name)
    for name in ("connect_four", "go(size=5)", "amazons(size=5)", "breakthrough(rows=6,columns=6)", "hex(size=4)")
]


class _Engine:
    """Looks like the process of an engine that has written everything at once."""

    returncode = 0

    def __init__(self, text: str):
        self.stdin, self.stdout, self.stderr = io.StringIO(), io.StringIO(text), io.StringIO()

    def wait(self) -> None:
        pass


ANSWERS = {
    "gtp": "= \n\n= \n\n{}\n\n",
    "uci": "option name UCI_Variant type combo var tictactoe\nuciok\nreadyok\nreadyok\nreadyok\n{}\n",
}
"""What the engine of a protocol writes, with its answer left open."""


def _read_engine(protocol: str, given: str) -> None:
    text = ANSWERS[protocol].format(given)
    start, engine.start_engine = engine.start_engine, lambda words: (_Engine(text), None)  # type: ignore[assignment]
    try:
        agent = make_agent(f"{protocol}:engine", GAME)
        agent.suggest(GAME.new_initial_state())
    finally:
        engine.start_engine = start


def _engine_words(protocol: str, given: str, folder: Path) -> list[str]:
    path = _file(folder, "answers", ANSWERS[protocol].format(given))
    return ["suggest", f"{protocol}:cat {path}", "--game", "tic_tac_toe"]


def _path(kind: str, given: Any, folder: Path) -> str:
    return str(_write(kind, given, folder))


def _resume_words(given: Any, folder: Path) -> list[str]:
    _make_run(folder)
    _write("state", given, folder)
    return ["train", "--run", str(folder / "run"), "--resume", "--set=training.iterations=1", "--set=gate.games=2"]


KINDS = {
    kind.name: kind
    for kind in [
        Kind("card", _drawn_changes("card"), _read_card, lambda g, f: ["suggest", f"{_path('card', g, f)}@4"]),
        Kind(
            "shard",
            _drawn_changes("shard"),
            _read_shard,
            lambda g, f: ["train-rollout", _path("shard", g, f), "--out", str(f / "out.safetensors"), "--epochs", "1"],
        ),
        Kind("state", _drawn_changes("state"), _read_state, _resume_words),
        Kind(
            "rollout",
            _drawn_changes("rollout"),
            _read_rollout,
            lambda g, f: ["suggest", f"uct(rollout={_path('rollout', g, f)})@8", "--game", "tic_tac_toe"],
        ),
        Kind(
            "config",
            _draw_config,
            lambda given, folder: load_config(_file(folder, "hostile.toml", given)),
            lambda g, f: ["train", str(_file(f, "hostile.toml", g)), "--run", str(f / "config")],
        ),
        Kind(
            "override",
            _drawn("search.c_puct=2", "selfplay.num_workers=1", "game.name=tic_tac_toe", "net.blocks=2"),
            lambda given, folder: load_config(folder / "config" / "tiny.toml", [given]),
            lambda g, f: ["train", str(f / "config" / "tiny.toml"), "--run", str(f / "config"), f"--set={g}"],
        ),
        Kind(
            "game",
            _drawn("connect_four(rows=6,columns=7)", "go(size=7,komi=6.5)", "nim.py:Nim(heap=3)"),
            _read_game,
            lambda g, f: ["suggest", "random", f"--game={g}"],
        ),
        Kind(
            "agent",
            _drawn("uct@100", "uct(c=2,table=1MiB)@8", "alphabeta@10", "connect_four(c_puct=2)@4", "random", "mc@8"),
            _read_agent,
            lambda g, f: ["suggest", "--game", "tic_tac_toe", "--", f"no{g}" if split_program(g) else g],
        ),
        Kind(
            "moves",
            _drawn("4453", "d4 e5 pass", "a1a2/b3", "a1xb2 b2-c3", "swap a1"),
            _read_moves,
            lambda g, f: ["suggest", "random", "--game", "connect_four", f"--moves={g}"],
        ),
        Kind(
            "benchmark",
            _drawn("# game: tic_tac_toe\na1 b1 c1 0\na1,b2 0\n", "# game: tic_tac_toe\na1 b1 {a2: 1, b2: 0}\n"),
            lambda given, folder: read_benchmark(str(_file(folder, "hostile.txt", given)), GAME),
            lambda g, f: [
                "evaluate",
                "random",
                "--game",
                "tic_tac_toe",
                "--benchmark",
                str(_file(f, "hostile.txt", g)),
            ],
        ),
        Kind(
            "gtp",
            _drawn("= a1", "= resign", "=1 b2", "? no", "= pass"),
            lambda given, folder: _read_engine("gtp", given),
            lambda given, folder: _engine_words("gtp", given, folder),
        ),
        Kind(
            "uci",
            _drawn("bestmove P@a1", "info multipv 2 score cp 9 nodes 8 pv P@a1 P@b2\nbestmove P@a1"),
            lambda given, folder: _read_engine("uci", given),
            lambda given, folder: _engine_words("uci", given, folder),
        ),
    ]
}
