"""Measures azero on a GPU: the net by rows of a pass, self-play by workers and games in parallel, training by batch.

    python benchmarks/gpu.py --config connect_four --workers 1 2 4 --games 192 768

Each figure is printed as soon as it is there. All workers share the GPU. Self-play runs an untrained net, for some
seconds before the measurement begins. `--set device.device=cpu` measures the cores alone.
"""

import argparse
import contextlib
import multiprocessing
import time
from functools import partial
from threading import Barrier, Lock

import numpy as np

from azero.bench.nets import random_planes
from azero.bench.rates import rate
from azero.config.reading import find_config, load_config
from azero.config.schema import Config
from azero.games.sizes import games_of
from azero.nets.devices import device_type
from azero.nets.evaluator import NetEvaluator
from azero.nets.make import make_net
from azero.nets.runtimes.fastest import available_runtimes, open_runtime
from azero.selfplay.play import SelfPlay, play_games
from azero.system.worker_pool import do_in_order
from azero.training.learning.precision import random_sample, settle_training
from azero.training.learning.trainer import Trainer

ROWS = (16, 64, 256, 1024, 4096)
WARM_UP_S = 3.0
MANY_GAMES = 1 << 20


def say(text: str) -> None:
    print(text, flush=True)


def measure_net(config: Config, seconds: float) -> None:
    """Prints evaluations per second of each runtime by rows of a pass, with copies of planes and answers."""
    game, device = games_of(config.game)[-1], device_type(config.device.device)
    net = make_net(config.net, game).eval()
    for runtime in available_runtimes(device):
        for rows in ROWS:
            session = open_runtime(runtime, net, device, rows, 1)
            speed = rate(partial(_run_pass, session, random_planes(rows, game.planes_shape)), seconds)
            say(f"net {runtime.name}, {rows} rows: {speed:,.0f} evaluations/s, {1e3 * rows / speed:.3f} ms a pass")


def _run_pass(session, planes: np.ndarray) -> int:
    return len(session.run(planes)[1])


class TimeIsUp(Exception):
    """The measurement is complete."""


class Clocked:
    """An evaluator that counts its evaluations for some seconds after a warm-up, and then ends self-play."""

    def __init__(self, evaluator: NetEvaluator, seconds: float):
        self._evaluator, self._seconds, self._lock = evaluator, seconds, Lock()
        self.rows, self.is_on_device = evaluator.rows, evaluator.is_on_device
        self._begin, self.num_evaluations, self.num_calls, self.elapsed = time.perf_counter(), 0, 0, 0.0

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        answer = self._evaluator.evaluate(planes)
        with self._lock:
            elapsed = time.perf_counter() - self._begin - WARM_UP_S
            if elapsed > self._seconds:
                raise TimeIsUp
            if elapsed > 0:
                self.elapsed = elapsed
                self.num_evaluations += len(planes)
                self.num_calls += 1
        return answer


def play(task: tuple[Config, float, Barrier | None]) -> tuple[float, float]:
    """Returns a worker's evaluations per second, and the mean rows of a call."""
    config, seconds, all_ready = task
    game = games_of(config.game)[-1]
    judge = NetEvaluator(make_net(config.net, game), config.device)
    play_games(SelfPlay.from_config(config, game, judge), range(2))  # compiles
    if all_ready:
        all_ready.wait(300)
    clocked = Clocked(judge, seconds)
    with contextlib.suppress(TimeIsUp):
        play_games(SelfPlay.from_config(config, game, clocked), range(MANY_GAMES))
    return clocked.num_evaluations / max(1e-9, clocked.elapsed), clocked.num_evaluations / max(1, clocked.num_calls)


def measure_play(config: Config, seconds: float, workers: list[int], games: list[int]) -> None:
    """Prints evaluations per second of all workers together."""
    device = device_type(config.device.device)
    for parallel in games:
        for num in workers:
            selfplay = config.selfplay.model_copy(update={"num_workers": num, "parallel_games": parallel})
            own = config.model_copy(update={"selfplay": selfplay})
            with multiprocessing.get_context("spawn").Manager() as manager:
                barrier = manager.Barrier(num) if num > 1 else None
                task = own, seconds, barrier
                found = list(do_in_order(play, [task] * num, num)) if num > 1 else [play(task)]
            speed, rows = sum(each for each, _ in found), float(np.mean([each for _, each in found]))
            text = f"{config.game.name}, {num} workers x {parallel} games on {device}"
            say(f"self-play, {text}: {speed:,.0f} evaluations/s, {rows:.0f} rows a call")


def measure_training(config: Config, seconds: float, batches: list[int]) -> None:
    """Prints positions per second of training steps on one random sample, without sampling."""
    game = games_of(config.game)[-1]
    for precision in ("fp32", "bf16"):
        for size in batches:
            training = config.training.model_copy(update={"batch_size": size, "precision": precision})
            own = settle_training(config.model_copy(update={"training": training}), game)
            trainer, sample = Trainer(own, game), random_sample(own, game)
            _time_steps(trainer, sample, 3)
            num = max(3, int(seconds * 3 / _time_steps(trainer, sample, 3)))
            took = _time_steps(trainer, sample, num)
            speed = f"{num * size / took:,.0f} positions/s, {1e3 * took / num:.2f} ms a step"
            say(f"training {precision}, batch {size}: {speed}")


def _time_steps(trainer: Trainer, sample, num: int) -> float:
    begin = time.perf_counter()
    for _ in range(num):
        trainer.step(sample, 0.0)
    trainer.largest_weight()  # waits for the device
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="connect_four")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--only", nargs="+", default=["net", "play", "training"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--games", type=int, nargs="+", default=[192, 768])
    parser.add_argument("--batches", type=int, nargs="+", default=[256, 1024, 4096])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--play-seconds", type=float, default=3.0)
    options = parser.parse_args()
    config = load_config(find_config(options.config), options.set)
    if "net" in options.only:
        measure_net(config, options.seconds)
    if "play" in options.only:
        measure_play(config, options.play_seconds, options.workers, options.games)
    if "training" in options.only:
        measure_training(config, options.seconds, options.batches)


if __name__ == "__main__":
    main()
