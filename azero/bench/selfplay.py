"""Speed of self-play, measured in turns with the net alone: of one worker, and of all workers.

Measurement begins when games of every age are played at the same time.
"""

import contextlib
import math
import multiprocessing
import time
from collections.abc import Callable
from threading import Barrier, Lock
from typing import NamedTuple

import numpy as np

from azero.bench.nets import evaluator_work, random_planes
from azero.bench.rates import NUM_TURNS, median_ratio, rate
from azero.config.schema import Config
from azero.games import Game
from azero.games.sizes import games_of
from azero.mcts import Evaluator, UniformEvaluator
from azero.nets.devices import pick_device
from azero.nets.evaluator import NetEvaluator
from azero.nets.make import make_net
from azero.selfplay.data.shard import Shard
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.workers import count_workers
from azero.system.worker_pool import do_in_order

_MANY_GAMES = 1 << 20
_LATEST_S = 600.0
"""How long a worker waits for the others, in seconds."""

_LEAST_S = 5.0
"""Least seconds of self-play and of the net for a figure. In less time, the state of the games affects it more."""

_SILENT_S = 1.0
"""Seconds without a call of the net that end the measurement: the cache then has all positions of the game."""


class SelfPlayRow(NamedTuple):
    """Speed of all workers together."""

    cache_mib: int  # of each worker; 0: none
    workers: int
    parallel_games: int  # of each worker
    evaluations_per_s: float  # positions that the net evaluates
    simulations_per_s: float  # with those that need no net: evaluations_per_s times the ratio of the two in whole games
    share_of_net: float  # of the evaluations of the net alone at this batch size: the median of adjacent turns


class Turn(NamedTuple):
    """Two rates in evaluations per second, measured one after the other."""

    selfplay: float
    net: float


def measure_selfplay(config: Config, seconds: float) -> list[SelfPlayRow]:
    """Returns rows without and with the evaluation cache, for one worker in this process and for all workers.

    There is no row if the cache has all positions of the game, so that the net is not called. Each figure takes
    `seconds` of self-play and of the net, but at least `_LEAST_S`.
    """
    num_workers, seconds = count_workers(config), max(seconds, _LEAST_S)
    rows = []
    for cache_mib in dict.fromkeys((0, config.search.cache_mib)):
        search = config.search.model_copy(update={"cache_mib": cache_mib})
        own = config.model_copy(update={"search": search})
        num_evaluations, num_simulations = count_whole_games(own)
        ways = [[play_in_turns(own, num_evaluations, seconds)]]
        if num_workers > 1:
            ways.append(_play_beside(own, num_evaluations, seconds, num_workers))
        rows += [_row(own, workers, num_simulations / num_evaluations) for workers in ways if all(workers)]
    return rows


def _row(config: Config, workers: list[list[Turn]], simulations_an_evaluation: float) -> SelfPlayRow:
    """Returns the row of the workers' turns."""
    speed = sum(float(np.median([turn.selfplay for turn in turns])) for turns in workers)
    pairs = [turn for turns in workers for turn in turns]
    share = median_ratio([turn.selfplay for turn in pairs], [turn.net for turn in pairs])
    num_games, cache_mib = config.selfplay.parallel_games, config.search.cache_mib
    return SelfPlayRow(cache_mib, len(workers), num_games, speed, speed * simulations_an_evaluation, share)


def count_whole_games(config: Config) -> tuple[int, int]:
    """Returns the evaluations and simulations of whole games, one per slot. It also compiles.

    An evaluator that costs nothing gives the same answers as a new net, so these are the games that are measured.
    """
    game = games_of(config.game)[-1]
    is_on_device = pick_device(config.device.device).type != "cpu"  # then lanes have caches of their own
    evaluator = _Counter(UniformEvaluator(game.num_actions), is_on_device)
    shard = _play(config, game, evaluator, config.selfplay.parallel_games)
    return evaluator.evaluations, int(shard.simulations.sum())


def play_in_turns(
    config: Config, num_free: int, seconds: float, is_ready: Callable[[], object] = lambda: None
) -> list[Turn]:
    """Returns the rates of a worker with a new net in all turns. Self-play runs `seconds` in all, and so does the net.

    The first `num_free` evaluations do not call the net. After them, games of every age are played at the same time;
    then `is_ready` is called.
    """
    game = games_of(config.game)[-1]
    judge = NetEvaluator(make_net(config.net, game), config.device)
    bare = evaluator_work(judge, random_planes(config.selfplay.parallel_games, game.planes_shape))
    evaluator = _InTurns(judge, lambda: rate(bare, seconds / NUM_TURNS), seconds / NUM_TURNS)

    def begin() -> None:
        is_ready()
        evaluator.begin()

    opening = _Opening(UniformEvaluator(game.num_actions), num_free, evaluator, begin)
    with contextlib.suppress(_TimeIsUp):
        _play(config, game, opening, _MANY_GAMES, lambda num: evaluator.expect())
    return evaluator.turns


def _play(
    config: Config, game: Game, evaluator: Evaluator, num_games: int, on_games: Callable[[int], None] = lambda num: None
) -> Shard:
    return play_games(SelfPlay.from_config(config, game, evaluator), range(num_games), on_games)


class _Counter:
    """Counts the evaluations of an evaluator."""

    def __init__(self, evaluator: Evaluator, is_on_device: bool):
        self._evaluator, self._lock = evaluator, Lock()
        self.rows, self.is_on_device = evaluator.rows, is_on_device
        self.evaluations = 0

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with self._lock:
            self.evaluations += len(planes)
        return self._evaluator.evaluate(planes)


class _Opening:
    """Uses one evaluator for the first `num_first` evaluations, and another after them, in any number of threads."""

    def __init__(self, first: Evaluator, num_first: int, then: Evaluator, is_over: Callable[[], object]):
        self._first, self._num_left, self._then, self._is_over = first, num_first, then, is_over
        self.rows, self.is_on_device = then.rows, then.is_on_device
        self._lock = Lock()

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with self._lock:
            evaluator = self._first if self._num_left > 0 else self._then
            self._num_left -= len(planes)
            if evaluator is self._first and self._num_left <= 0:
                self._is_over()
        return evaluator.evaluate(planes)


class _TimeIsUp(Exception):
    """The measurement is complete."""


class _InTurns:
    """An evaluator that measures its callers for `seconds` per turn, and then runs `measure_net` before it returns.

    The first call after that is a warm-up. Callers may be several threads. Calls that began before a turn do not count.
    """

    def __init__(self, evaluator: Evaluator, measure_net: Callable[[], float], seconds: float):
        self._evaluator, self._measure_net, self._seconds = evaluator, measure_net, seconds
        self.rows, self.is_on_device = evaluator.rows, evaluator.is_on_device
        self._begin: float | None = None
        self._done = 0
        self._last = math.inf
        self._lock = Lock()
        self.turns: list[Turn] = []

    def begin(self) -> None:
        """Starts the measurement: all calls from now on come here."""
        self._last = time.perf_counter()

    def expect(self) -> None:
        """Ends the measurement without turns if it has begun and there was no call for `_SILENT_S`."""
        if time.perf_counter() - self._last > _SILENT_S:
            self.turns.clear()
            raise _TimeIsUp

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        called = time.perf_counter()
        answer = self._evaluator.evaluate(planes)
        with self._lock:
            self._note(called, len(planes))
        return answer

    def _note(self, called: float, num_evaluations: int) -> None:
        """Counts the evaluations of a call. Ends the turn or the measurement when it is time."""
        now = time.perf_counter()
        if self._begin is None:
            self._begin, self._done, self._last = now, 0, now
            return
        if called < self._begin:
            return
        self._done += num_evaluations
        elapsed = now - self._begin
        if elapsed >= self._seconds:
            self.turns.append(Turn(self._done / elapsed, self._measure_net()))
            self._begin = None
            if len(self.turns) == NUM_TURNS:
                raise _TimeIsUp
        self._last = time.perf_counter()


def _play_beside(config: Config, num_free: int, seconds: float, num_workers: int) -> list[list[Turn]]:
    """Returns the turns of each of several processes, which start at the same time."""
    with multiprocessing.get_context("spawn").Manager() as manager:
        task = config, num_free, seconds, manager.Barrier(num_workers)
        return list(do_in_order(_work, [task] * num_workers, num_workers))


def _work(task: tuple[Config, int, float, Barrier]) -> list[Turn]:
    config, num_free, seconds, all_ready = task
    return play_in_turns(config, num_free, seconds, lambda: all_ready.wait(_LATEST_S))
