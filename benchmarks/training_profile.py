"""Profiles training steps: time of their parts, and positions per second by precision, measured in turns.

python benchmarks/training_profile.py --config connect_four
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from azero.config.reading import find_config, load_config
from azero.config.schema import Config
from azero.games import Game, make_game
from azero.mcts import UniformEvaluator
from azero.nets.runtimes.choice import has_bf16, pick_device
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.selfplay.play import SelfPlay, play_games
from azero.training.heads.registry import heads_of
from azero.training.learning import trainer as parts
from azero.training.learning.precision import settle_precision
from azero.training.learning.trainer import Trainer

SECONDS: dict[str, list[float]] = defaultdict(list)


def clocked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function with a clock that appends each call's time to SECONDS[name]."""

    def run(*arguments: Any, **options: Any) -> Any:
        begin = time.perf_counter()
        try:
            return function(*arguments, **options)
        finally:
            SECONDS[name].append(time.perf_counter() - begin)

    return run


def replay_of(game: Game, config: Config) -> Replay:
    """Returns a replay with a few games played without a net."""
    shard = play_games(SelfPlay.from_config(config, game, UniformEvaluator(game.num_actions)), range(64))
    targets = targets_of(config.training, heads_of(config.training, game))
    replay = Replay((game,), Window(config.replay.window), targets)
    replay.add("00001-0000", shard)
    return replay


def take_steps(trainer: Trainer, replay: Replay, num: int) -> None:
    """Takes `num` steps as the training loop does."""
    generators = (np.random.default_rng([0, step]) for step in range(num))
    for sample in replay.samples(trainer.config.batch_size, generators):
        trainer.step(sample, 0.0)


def show_parts(trainer: Trainer, replay: Replay, num_steps: int) -> None:
    """Prints the median time of each part of a step. `forward` and `backward` are times of one pass of several."""
    for owner, function, name in (
        (trainer.passes, "run", "passes, side by side"),
        (trainer.learner, "forward", "forward, of a pass"),
        (torch.autograd, "grad", "backward, of a pass"),
        (parts, "_set_gradients", "sum of gradients"),
        (torch.nn.utils, "clip_grad_norm_", "clip"),
        (trainer.optimizer, "step", "optimiser"),
        (parts, "update_average", "moving average"),
        (replay, "sample", "sample, beside the step"),
        (trainer, "step", "step"),
    ):
        setattr(owner, function, clocked(name, getattr(owner, function)))
    take_steps(trainer, replay, num_steps)
    whole = np.median(SECONDS["step"])
    for name, seconds in sorted(SECONDS.items(), key=lambda each: -np.median(each[1])):
        print(f"  {name:<26}{1e3 * np.median(seconds):>8.2f} ms{np.median(seconds) / whole:>8.1%}")


def positions_per_s(trainer: Trainer, replay: Replay, num_steps: int) -> float:
    begin = time.perf_counter()
    take_steps(trainer, replay, num_steps)
    return num_steps * trainer.config.batch_size / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="connect_four")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    path = find_config(arguments.config)
    precisions = ["fp32", "bf16"] if has_bf16(pick_device("auto")) else ["fp32"]
    configs = {name: load_config(path, [f"training.precision={name}"]) for name in precisions}
    game = make_game(configs["fp32"].game.name)
    settled = settle_precision(load_config(path), game).training.precision
    replay = replay_of(game, configs["fp32"])
    trainers = {name: Trainer(config, game) for name, config in configs.items()}
    for trainer in trainers.values():
        take_steps(trainer, replay, 5)  # to warm up
    rates: dict[str, list[float]] = {name: [] for name in trainers}
    for _ in range(arguments.rounds):
        for name, trainer in trainers.items():
            rates[name].append(positions_per_s(trainer, replay, max(1, arguments.steps // 4)))
    medians = {name: float(np.median(each)) for name, each in rates.items()}
    for name, each in rates.items():
        ratio = np.median(np.array(each) / rates["fp32"])
        print(f"{name}: {medians[name]:,.0f} positions a second, {ratio:.2f} of fp32 in the same round")
    print(f"auto: {settled}, {medians[settled] / max(medians.values()):.2f} of the better one")
    print(f"{settled} and {configs[settled].net}, a step:")
    show_parts(trainers[settled], replay, arguments.steps)


if __name__ == "__main__":
    main()
