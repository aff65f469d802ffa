"""Trains a Connect Four net on solved positions, and some positions of self-play.

    python notes/scripts/train_on_solved.py solved.npz --net connect_four --games RUN/replay --out net.safetensors

`solved_positions.py` makes the file. The shipped net learned for 150 s on a GPU. Each batch has 88 % of solved
positions. Short positions are drawn more often, since there are few.
"""

import argparse
import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from azero.arena.agents.checkpoints import find_checkpoint
from azero.config.reading import find_config, load_config
from azero.games import Game, make_game
from azero.nets.checkpoint import load_checkpoint, write_checkpoint
from azero.runs.shards import load_shard
from azero.selfplay.data.lessons import Lesson, Lessons
from azero.selfplay.data.policies import join_rows
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.training.learning.precision import settle_training
from azero.training.learning.trainer import Trainer

SHARE = 0.88
TIMES = [8] * 8 + [4, 2, 1, 1, 1] + [6] * 7 + [4] * 22
"""How often a position is among the lessons, by its plies."""

SETTINGS = {
    "learning_rate": 0.002,
    "muon_learning_rate": 0.02,
    "final_learning_rate": 0.00004,
    "ema_decay": 0.998,
    "warmup_steps": 200,
}


def read_lessons(path: Path, game: Game) -> Lessons:
    """Returns the solved positions of a file as lessons."""
    arrays = np.load(path)
    rows = np.repeat(np.arange(len(arrays["plies"])), np.array(TIMES)[arrays["plies"]])
    lessons = Lessons(game, [Lesson(game.new_initial_state(), 0.0, {})], SHARE)  # replaced below
    lessons.states = np.zeros(len(rows), game.rules.state_dtype)
    lessons.states["stones"] = arrays["stones"][rows]
    lessons.states["ply"] = arrays["plies"][rows]
    lessons.values = arrays["results"][rows].astype(np.float32)
    winning = arrays["moves"][rows, None] >> np.arange(7) & 1
    lessons.policies = join_rows([(np.flatnonzero(row), row[row > 0]) for row in winning])
    return lessons


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("solved", type=Path)
    parser.add_argument("--net", default="connect_four", help="the checkpoint to begin with")
    parser.add_argument("--games", type=Path, required=True, help="a folder of shards")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=150.0)
    parser.add_argument("--batch", type=int, default=4096)
    options = parser.parse_args()
    game, begin_with = make_game("connect_four"), load_checkpoint(find_checkpoint(options.net))
    settings = [f"training.{name}={value}" for name, value in SETTINGS.items()]
    config = load_config(find_config("connect_four_long"), [*settings, f"training.batch_size={options.batch}"])
    config = settle_training(config, game)
    replay = Replay(
        (game,), Window(1 << 40), targets_of(config.training, ()), lessons=read_lessons(options.solved, game)
    )
    for path in sorted(options.games.glob("*.safetensors")):
        replay.add(path.stem, load_shard(path, game))
    trainer = Trainer(config, game)
    trainer.begin_with(begin_with.net)
    begin = time.monotonic()

    def progress() -> float:
        return (time.monotonic() - begin) / options.seconds

    def generators() -> Iterator[np.random.Generator]:
        for number in itertools.count():
            if progress() >= 1:
                return
            yield np.random.default_rng([9, number])

    for sample in replay.samples(options.batch, generators()):
        losses = trainer.step(sample, min(1.0, progress()))
        if trainer.steps % 1000 == 0:
            print(
                f"step {trainer.steps}: policy {float(losses.policy):.3f}, value {float(losses.value):.3f}", flush=True
            )
    card = replace(begin_with.card, step=begin_with.card.step + trainer.steps, torch_version=torch.__version__)
    write_checkpoint(options.out, trainer.candidate(), card)
    print(f"{trainer.steps:,} steps, {trainer.steps * options.batch / (time.monotonic() - begin):,.0f} positions/s")


if __name__ == "__main__":
    main()
