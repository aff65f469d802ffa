"""Measures training: the parts of a step, ranks, self-play ahead of training, and what the safety of files costs.

    python benchmarks/training.py parts --config connect_four
    python benchmarks/training.py ways --config connect_four --threads 2
    python benchmarks/training.py ranks --config connect_four --ranks 2 --threads 1
    python benchmarks/training.py ahead --config connect_four_quick --set selfplay.num_workers=2
    python benchmarks/training.py safety --config connect_four_quick --iterations 3

`parts`: the time of each part of a step.

`ways`: positions per second in torch's fp32 and bf16 and by winograd, by the fastest of many steps, which take turns.

`ranks`: steps per second of one rank and of several, in turns; each rank has as many threads. "threads" is one rank
with all of these threads: what a single machine does. The machine needs a core for each thread.

`ahead`: how long an iteration takes when self-play takes turns with training and gate, and when it plays ahead. The
best that this can do is the longer of self-play and the rest. Trainer and workers need cores of their own.

`safety`: the share of a run's CPU time in digests, replays and second copies.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from azero.bench.nets import count_operations
from azero.bench.peaks import peak_measures
from azero.commands.options import pools
from azero.config.reading import find_config, load_config
from azero.config.schema import Config
from azero.games import Game, make_game
from azero.games.user import trust
from azero.mcts import UniformEvaluator
from azero.nets.devices import has_bf16, pick_device
from azero.runs import shards
from azero.runs.metrics import read_metrics
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.selfplay.play import SelfPlay, play_games
from azero.system import tensor_files
from azero.system.local_backend import local_host
from azero.training import loop, run
from azero.training.callbacks import Callback, RunView
from azero.training.learning import trainer as parts
from azero.training.learning.learner import heads_of
from azero.training.learning.precision import random_sample, settle_training
from azero.training.learning.ranks import Ranks, generators_of, joined_ranks
from azero.training.learning.trainer import Trainer
from azero.training.learning.winograd.layers import why_not_winograd
from azero.training.stages import promote
from azero.training.train import train

STEP_SECONDS: dict[str, list[float]] = defaultdict(list)


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function with a clock that appends each call's time to STEP_SECONDS[name]."""

    def run(*arguments: Any, **options: Any) -> Any:
        begin = time.perf_counter()
        try:
            return function(*arguments, **options)
        finally:
            STEP_SECONDS[name].append(time.perf_counter() - begin)

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
        setattr(owner, function, timed(name, getattr(owner, function)))
    take_steps(trainer, replay, num_steps)
    whole = np.median(STEP_SECONDS["step"])
    for name, seconds in sorted(STEP_SECONDS.items(), key=lambda each: -np.median(each[1])):
        print(f"  {name:<26}{1e3 * np.median(seconds):>8.2f} ms{np.median(seconds) / whole:>8.1%}")


def configs_of_ways(name: str, settings: Sequence[str]) -> dict[str, Config]:
    """Returns the settings of a config with each way to train here: torch in fp32 and bf16, and winograd."""
    path, device = find_config(name), pick_device("auto")
    ways = {"fp32": ("fp32", "torch"), "bf16": ("bf16", "torch"), "winograd": ("fp32", "winograd")}
    configs = {}
    for way, (precision, convolution) in ways.items():
        chosen = [*settings, f"training.precision={precision}", f"training.convolution={convolution}"]
        configs[way] = load_config(path, chosen)
    if not has_bf16(device):
        del configs["bf16"]
    if why_not_winograd(configs["winograd"]):
        del configs["winograd"]
    return configs


def add_parts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default="connect_four")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--set", dest="settings", action="append", default=[])


def measure_parts(options: argparse.Namespace) -> None:
    """The parts of a step, in the way that is chosen here."""
    configs = configs_of_ways(options.config, options.settings)
    game = make_game(configs["fp32"].game.name)
    config = settle_training(load_config(find_config(options.config), options.settings), game)
    replay, trainer = replay_of(game, config), Trainer(config, game)
    take_steps(trainer, replay, 5)  # to warm up
    print(f"{config.training.precision}, {config.training.convolution} and {config.net}, a step:")
    show_parts(trainer, replay, options.steps)


def add_ways(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default="connect_four")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=40, help="of two steps in each way")
    parser.add_argument("--set", dest="settings", action="append", default=[])


def measure_ways(options: argparse.Namespace) -> None:
    """The fastest of many steps in each way to train, and their share of the peak in fp32."""
    configs = configs_of_ways(options.config, [*options.settings, f"device.threads={options.threads}"])
    game = make_game(configs["fp32"].game.name)
    trainers = {way: Trainer(config, game) for way, config in configs.items()}
    sample, size = random_sample(configs["fp32"], game), configs["fp32"].training.batch_size
    peaks = {key: measure for key, measure in peak_measures([options.threads]).items() if key[0] == "fp32"}
    best: Counter[Any] = Counter()
    for number in range(options.rounds):
        for way, trainer in trainers.items():
            for _ in range(2):
                begin = time.perf_counter()
                trainer.step(sample, 0.0)
                if number:
                    best[way] = max(best[way], size / (time.perf_counter() - begin))
        for key, measure in peaks.items():
            best[key] = max(best[key], measure(0.02))
    operations = 3 * count_operations(trainers["fp32"].average, game.planes_shape).on_board
    print(f"{options.config}, {options.threads} threads, load {os.getloadavg()[0]:.1f}: positions a second")
    for way in trainers:
        ratios = ", ".join(f"{best[way] / best[other]:.2f} of {other}" for other in trainers if other != way)
        share = "".join(f", {operations * best[way] / best[key]:.1%} of the peak in fp32" for key in peaks)
        print(f"  {way:9}{best[way]:8,.0f}, {ratios}{share}")


def rate_of(config: Config, trainer: Trainer, ranks: Ranks, replay: Replay, num_steps: int) -> float:
    """Returns the steps per second, as the training loop takes them."""
    steps = range(num_steps)
    generators = generators_of(config.seed, 1, steps)
    begin = time.perf_counter()
    with ranks.at_work(replay, 1, steps):
        for sample in replay.samples(config.training.batch_size, generators, trainer.rows):
            trainer.step(sample, 0.0)
    return num_steps / (time.perf_counter() - begin)


def add_ranks(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default="connect_four")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of each rank")
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=20, help="of each turn")
    parser.add_argument("--turns", type=int, default=5)


def measure_ranks(options: argparse.Namespace) -> None:
    """Steps per second of one rank and of several."""

    def settings(num_ranks: int, num_threads: int) -> Config:
        changes = {"training.batch_size": options.batch_size, "training.precision": "fp32", "device.device": "cpu"}
        more = {"cluster.trainers": num_ranks, "device.threads": num_threads}
        return load_config(find_config(options.config), changes | more)

    configs = {
        "one rank": settings(1, options.threads),
        "ranks": settings(options.ranks, options.threads),
        "threads": settings(1, options.ranks * options.threads),
    }
    game = make_game(configs["ranks"].game.name)
    rates: dict[str, list[float]] = {name: [] for name in configs}
    with ExitStack() as stack:
        ready = {}
        for name, config in configs.items():
            trainer = Trainer(config, game)
            ranks = stack.enter_context(joined_ranks(config, game, trainer, None, local_host))
            ready[name] = config, trainer, ranks, replay_of(game, config)
            rate_of(*ready[name], 2)
        for _ in range(options.turns):
            for name, each in ready.items():
                rates[name].append(rate_of(*each, options.steps))
    for name, found in rates.items():
        ratio = statistics.median(np.divide(found, rates["one rank"]))
        print(f"{name:9}  {statistics.median(found):6.2f} steps/s   {ratio:.2f} times one rank")


class Clock(Callback):
    """Notes when each iteration ends, in seconds."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def after_iteration(self, run: RunView) -> None:
        self.ends.append(time.perf_counter())


def describe(name: str, lines: list[dict], ends: list[float]) -> str:
    """Returns the medians of a run's iterations, without the first, which has nothing to overlap with, and the last."""
    took = [end - begin for begin, end in pairwise(ends)][:-1]
    inner = lines[1:-1]
    selfplay = [line["time/play_s"] for line in inner]
    if "time/overlap" in inner[0]:
        selfplay = [line["time/ahead_s"] / line["time/overlap"] for line in inner]
    rest = [line["time/iteration_s"] - line["time/play_s"] for line in inner]
    ratio = statistics.median(all_s / max(pair) for all_s, *pair in zip(took, selfplay, rest, strict=True))
    figures = (statistics.median(each) for each in (took, selfplay, rest))
    return f"{name:10}{''.join(f'{each:12.2f}' for each in figures)}{ratio:12.2f}"


def add_ahead(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default="connect_four_quick")
    parser.add_argument("--iterations", type=int, default=6, help="4 or more")
    parser.add_argument("--cluster", default=None)
    parser.add_argument("--set", dest="settings", action="append", default=[])


def measure_ahead(options: argparse.Namespace) -> None:
    """An iteration in turns, and with self-play ahead."""
    common = [f"training.iterations={options.iterations}", "gate.final_games=0", "evaluation.every=0"]
    rows = []
    with tempfile.TemporaryDirectory() as folder, pools(options.cluster) as make_pool:
        for name, value in (("in turns", 0), ("ahead", 1)):
            settings = [*common, *options.settings, f"training.play_ahead={value}"]
            config = load_config(find_config(options.config), settings)
            clock, run = Clock(), Path(folder) / str(value)
            train(config, run, callbacks=[clock], make_pool=make_pool)
            rows.append(describe(name, read_metrics(run / "metrics.jsonl"), clock.ends))
    print(f"\n{'seconds':10}{'iteration':>12}{'self-play':>12}{'the rest':>12}{'of longer':>12}")
    print("\n".join(rows))


SAFETY_SECONDS: Counter[str] = Counter()
DEPTH = [0]


def clocked(module: Any, name: str) -> None:
    """Replaces a module's function by one whose CPU time is added to SAFETY_SECONDS[name], unless another one runs."""
    function: Callable[..., Any] = getattr(module, name)

    def clock(*arguments: Any, **options: Any) -> Any:
        DEPTH[0] += 1
        begin = time.thread_time()
        try:
            return function(*arguments, **options)
        finally:
            DEPTH[0] -= 1
            SAFETY_SECONDS[name] += (time.thread_time() - begin) * (DEPTH[0] == 0)

    setattr(module, name, clock)


def add_safety(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default="connect_four_quick")
    parser.add_argument("--iterations", type=int, default=3)


def measure_safety(options: argparse.Namespace) -> None:
    """The share of a run's CPU time that keeps its files safe."""
    settings = [f"training.iterations={options.iterations}", "selfplay.num_workers=1", "gate.final_games=0"]
    config = load_config(find_config(options.config), settings)
    with tempfile.TemporaryDirectory() as folder:
        loop.train_run(Path(folder) / "warm", load_config(find_config("smoke"), ["training.iterations=1"]), False)
        for module, name in (
            (tensor_files, "digest_of"), (shards, "check_games"), (promote, "keep_beginning"),
            (run, "shards_at_beginning"), (trust, "check_trusted"),
        ):  # fmt: skip
            clocked(module, name)
        begin = time.process_time()
        loop.train_run(Path(folder) / "run", config, False)
        trained = time.process_time() - begin
        cost = dict(SAFETY_SECONDS)
        begin = time.process_time()
        loop.train_run(Path(folder) / "run", load_config(Path(folder) / "run" / "config.toml"), True)
        resumed = time.process_time() - begin
    print(f"trained: {trained:.1f} s of CPU, of which {sum(cost.values()):.3f} s ({sum(cost.values()) / trained:.3%})")
    for name, seconds in cost.items():
        print(f"  {name:22}{seconds:8.3f} s")
    print(f"resumed: {resumed:.1f} s of CPU, of which {sum(SAFETY_SECONDS.values()) - sum(cost.values()):.3f} s")


COMMANDS = {
    "parts": (add_parts, measure_parts, "the parts of a step"),
    "ways": (add_ways, measure_ways, "positions per second in torch's fp32 and bf16, and by winograd"),
    "ranks": (add_ranks, measure_ranks, "steps per second of one rank and of several"),
    "ahead": (add_ahead, measure_ahead, "an iteration in turns, and with self-play ahead"),
    "safety": (add_safety, measure_safety, "the share of a run's CPU time that keeps its files safe"),
}
"""See `subcommands.py`."""


if __name__ == "__main__":
    from subcommands import run_command

    run_command(COMMANDS, __doc__)
