"""Self-play in a second, in full swing and in turns with the bare net: of one worker, and of all of them."""

import contextlib
import math
import multiprocessing
import time
from collections.abc import Callable
from threading import Barrier
from typing import NamedTuple

import numpy as np

from azero.bench.nets import evaluator_work, random_planes
from azero.bench.rates import NUM_TURNS, median_ratio, rate
from azero.config.schema import Config
from azero.games import Game, make_game
from azero.mcts import Evaluator, UniformEvaluator
from azero.nets.architectures.tower import ResidualTower
from azero.nets.evaluator import NetEvaluator
from azero.selfplay.data.records import Shard
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.pool import count_workers
from azero.system.workers import do_in_order

_MANY_GAMES = 1 << 20
_LATEST_S = 600.0
"""How long a worker waits for the others."""

_LEAST_S = 5.0
"""Seconds of self-play and of the net that make a figure. In less, what games are about to do shows more than speed."""

_SILENT_S = 1.0
"""How long the net is waited for: where the cache knows all positions of a game, it is asked no more."""


class SelfPlayRow(NamedTuple):
    """What workers do in a second, together."""

    cache_mib: int  # of each worker; 0: none
    workers: int
    parallel_games: int  # of each
    evaluations_per_s: float  # positions that the net judges
    simulations_per_s: float  # of them and of those that need no net: evaluations_per_s, times what whole games have
    share_of_net: float  # of the bare net's evaluations at that batch size, the median of neighbours in time


class Turn(NamedTuple):
    """Two rates of evaluations a second, one right after the other."""

    selfplay: float
    net: float


def measure_selfplay(config: Config, seconds: float) -> list[SelfPlayRow]:
    """Returns rows without the evaluation cache and with it: of one worker in this process, and of all there are.

    There is none where the net is asked no more, since the cache knows all positions. Each figure takes `seconds` of
    self-play and of the net, `_LEAST_S` at least.
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
    """Returns the row of what each worker did."""
    speed = sum(float(np.median([turn.selfplay for turn in turns])) for turns in workers)
    pairs = [turn for turns in workers for turn in turns]
    share = median_ratio([turn.selfplay for turn in pairs], [turn.net for turn in pairs])
    num_games, cache_mib = config.selfplay.parallel_games, config.search.cache_mib
    return SelfPlayRow(cache_mib, len(workers), num_games, speed, speed * simulations_an_evaluation, share)


def count_whole_games(config: Config) -> tuple[int, int]:
    """Returns evaluations and simulations of a game in each slot, from beginning to end; compiles, too.

    An evaluator that costs nothing says what a new net does, so these are the games that are measured.
    """
    game = make_game(config.game.name)
    evaluator = _Counter(UniformEvaluator(game.num_actions))
    shard = _play(config, game, evaluator, config.selfplay.parallel_games)
    return evaluator.evaluations, int(shard.simulations.sum())


def play_in_turns(
    config: Config, num_free: int, seconds: float, is_ready: Callable[[], object] = lambda: None
) -> list[Turn]:
    """Returns the rates of a worker with a new net, turn by turn; self-play has `seconds` in all, and so has the net.

    The first `num_free` evaluations, for which the net is not asked, lead to where games of every age are played side
    by side. `is_ready` is called when they are over.
    """
    game = make_game(config.game.name)
    judge = NetEvaluator(ResidualTower(config.net, game), config.device)
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
    """Counts what an evaluator is asked."""

    def __init__(self, evaluator: Evaluator):
        self._evaluator = evaluator
        self.rows, self.is_on_device = evaluator.rows, evaluator.is_on_device
        self.evaluations = 0

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.evaluations += len(planes)
        return self._evaluator.evaluate(planes)


class _Opening:
    """One evaluator for so many evaluations, another from then on."""

    def __init__(self, first: Evaluator, num_first: int, then: Evaluator, is_over: Callable[[], object]):
        self._first, self._num_left, self._then, self._is_over = first, num_first, then, is_over
        self.rows, self.is_on_device = then.rows, then.is_on_device

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self._num_left <= 0:
            return self._then.evaluate(planes)
        self._num_left -= len(planes)
        if self._num_left <= 0:
            self._is_over()
        return self._first.evaluate(planes)


class _TimeIsUp(Exception):
    """The measurement is complete."""


class _InTurns:
    """An evaluator that is timed for `seconds`, with what is done between its calls, and then holds up who calls it.

    Meanwhile `measure_net` has its turn; the first call after it warms up.
    """

    def __init__(self, evaluator: Evaluator, measure_net: Callable[[], float], seconds: float):
        self._evaluator, self._measure_net, self._seconds = evaluator, measure_net, seconds
        self.rows, self.is_on_device = evaluator.rows, evaluator.is_on_device
        self._begin: float | None = None
        self._done = 0
        self._last = math.inf
        self.turns: list[Turn] = []

    def begin(self) -> None:
        """Says that this is what is asked from now on."""
        self._last = time.perf_counter()

    def expect(self) -> None:
        """Ends the measurement, without turns, where this has begun and not been asked for long."""
        if time.perf_counter() - self._last > _SILENT_S:
            self.turns.clear()
            raise _TimeIsUp

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        answer = self._evaluator.evaluate(planes)
        now = time.perf_counter()
        if self._begin is None:
            self._begin, self._done, self._last = now, 0, now
            return answer
        self._done += len(planes)
        elapsed = now - self._begin
        if elapsed >= self._seconds:
            self.turns.append(Turn(self._done / elapsed, self._measure_net()))
            self._begin = None
            if len(self.turns) == NUM_TURNS:
                raise _TimeIsUp
        self._last = time.perf_counter()
        return answer


def _play_beside(config: Config, num_free: int, seconds: float, num_workers: int) -> list[list[Turn]]:
    """Returns the turns of each of several processes, which begin together."""
    with multiprocessing.get_context("spawn").Manager() as manager:
        task = config, num_free, seconds, manager.Barrier(num_workers)
        return list(do_in_order(_work, [task] * num_workers, num_workers))


def _work(task: tuple[Config, int, float, Barrier]) -> list[Turn]:
    config, num_free, seconds, all_ready = task
    return play_in_turns(config, num_free, seconds, lambda: all_ready.wait(_LATEST_S))
