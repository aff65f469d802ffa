"""Tests of lanes, and that games do not depend on them, on caches and on passes."""

import itertools
import threading

import pytest
from mcts.evaluators import HashEvaluator

from azero.mcts.evaluation.cache import new_cache

from .games import CONNECT_FOUR, NOISY, TIC_TAC_TOE, assert_same, play, split

pytestmark = pytest.mark.slow  # it compiles kernels of its own

GAMES = [TIC_TAC_TOE, CONNECT_FOUR]
CACHED = NOISY._replace(cache_mib=64)


class Apart(HashEvaluator):
    """An evaluator on a separate device. It records the threads that call it."""

    is_on_device = True

    def __init__(self, game, rows=0):
        super().__init__(game)
        self.rows = rows
        self.threads: set[int] = set()

    def evaluate(self, planes):
        self.threads.add(threading.get_ident())
        return super().evaluate(planes)


class InPasses(HashEvaluator):
    """An evaluator with passes of `rows` rows."""

    def __init__(self, game, rows):
        super().__init__(game)
        self.rows = rows


def few_buckets(mib):
    """Returns a cache of 20 positions, which are soon replaced."""
    return new_cache(mib)._replace(buckets=new_cache(mib).buckets[:5])


def short_ring(mib):
    """Returns a cache with room for 50 logits, which are soon overwritten."""
    cache = new_cache(mib)
    return cache._replace(logits=cache.logits[:50], actions=cache.actions[:50])


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("num_slots", "tiny"), [(1, few_buckets), (5, short_ring), (16, few_buckets)])
def test_games_are_the_same_whatever_the_size_of_the_cache(game, num_slots, tiny, monkeypatch):
    expected = play(game, range(16), settings=CACHED)
    assert expected.cache_hits[0] > 0.2 * expected.evaluations[0] > 0
    small = play(game, range(16), num_slots, settings=CACHED._replace(cache_mib=8))
    assert_same(small, expected)
    monkeypatch.setattr("azero.selfplay.play.new_cache", tiny)
    evicting = play(game, range(16), num_slots, settings=CACHED)
    assert split(evicting) == split(expected) and evicting.evaluations[0] > expected.evaluations[0]
    assert evicting.cache_hits + evicting.evaluations == expected.cache_hits + expected.evaluations


def test_without_a_cache_nothing_is_found():
    assert play(CONNECT_FOUR, range(4)).cache_hits.tolist() == [0]


@pytest.mark.parametrize("settings", [NOISY, CACHED], ids=["without a cache", "cached"])
@pytest.mark.parametrize("rows", [1, 3, 4, 8, 100])
def test_the_net_is_given_whole_passes(rows, settings):
    evaluator = InPasses(CONNECT_FOUR, rows)
    shard = play(CONNECT_FOUR, range(24), 10, settings=settings, evaluator=evaluator)
    assert_same(shard, play(CONNECT_FOUR, range(24), 10, settings=settings))
    broken = [size for size in evaluator.batch_sizes if size % rows]
    assert all(size < rows for size in broken), "an incomplete pass should be a batch of its own"
    if settings is NOISY and rows <= 4:  # ten games at a time, none of which share a row
        assert max(evaluator.batch_sizes) == 10 - 10 % rows
        assert len(broken) < len(evaluator.batch_sizes) / 2


@pytest.mark.thorough
@pytest.mark.parametrize("settings", [NOISY, CACHED], ids=["without a cache", "cached"])
@pytest.mark.parametrize("rows", [0, 4])
@pytest.mark.parametrize("num_lanes", [1, 3])
@pytest.mark.parametrize("num_slots", [1, 2, 12])
def test_games_are_the_same_on_a_device_apart(settings, rows, num_lanes, num_slots):
    evaluator = Apart(CONNECT_FOUR, rows)
    how = {"settings": settings, "evaluator": evaluator, "num_lanes": num_lanes}
    shard = play(CONNECT_FOUR, range(20), num_slots, **how)
    expected = play(CONNECT_FOUR, range(20), settings=settings)
    assert split(shard) == split(expected) and shard.simulations == expected.simulations
    assert shard.cache_hits + shard.evaluations == expected.cache_hits + expected.evaluations
    assert sum(evaluator.batch_sizes) == shard.evaluations[0]
    assert max(evaluator.batch_sizes) <= -(-num_slots // num_lanes), "a batch should have the games of one lane"


@pytest.mark.parametrize("num_lanes", [2, 5])
def test_games_are_the_same_with_any_number_of_threads(num_lanes):
    expected = play(CONNECT_FOUR, range(20), 8)
    assert_same(play(CONNECT_FOUR, range(20), 8, num_lanes=num_lanes), expected)


def test_lanes_do_not_wait_for_each_other():
    class Slow(Apart):
        """Its first answer comes when another lane has had ten."""

        def evaluate(self, planes):
            if next(calls) == 0:
                assert others_have_ten.wait(60)
            elif len(self.batch_sizes) == 10:
                others_have_ten.set()
            return super().evaluate(planes)

    others_have_ten, calls = threading.Event(), itertools.count()
    shard = play(CONNECT_FOUR, range(20), 8, evaluator=Slow(CONNECT_FOUR), num_lanes=2)
    assert_same(shard, play(CONNECT_FOUR, range(20), 8))


def test_an_error_in_one_lane_ends_the_others():
    class Failing(Apart):
        def evaluate(self, planes):
            if len(self.batch_sizes) == 20:
                self.batch_sizes.append(0)
                raise RuntimeError("the device is gone")
            return super().evaluate(planes)

    evaluator = Failing(CONNECT_FOUR)
    with pytest.raises(RuntimeError, match="the device is gone"):
        play(CONNECT_FOUR, range(10_000), 9, evaluator=evaluator, num_lanes=3)
    assert len(evaluator.batch_sizes) < 1000


def test_an_error_ends_lanes_that_no_longer_ask_the_net():
    class Failing(Apart):
        """It fails when the other lane has had all positions of the game."""

        def evaluate(self, planes):
            if next(calls) == 0:
                assert other_is_known.wait(60)
                raise RuntimeError("the device is gone")
            return super().evaluate(planes)

    def count(num):
        reports.append(num)
        if sum(reports) > 3000:  # no tree of the game has so many nodes
            other_is_known.set()

    other_is_known, reports, calls = threading.Event(), [], itertools.count()
    with pytest.raises(RuntimeError, match="the device is gone"):
        play(
            TIC_TAC_TOE, range(200_000), 8, settings=CACHED, evaluator=Failing(TIC_TAC_TOE), num_lanes=2, on_games=count
        )
    assert sum(reports) < 50_000


def test_a_lane_has_the_same_batches_in_each_run():
    def batches():
        class Noting(Apart):
            def evaluate(self, planes):
                found.append(planes.tobytes())
                return super().evaluate(planes)

        found = []
        play(CONNECT_FOUR, range(30), 9, evaluator=Noting(CONNECT_FOUR), num_lanes=3)
        return sorted(found)

    assert batches() == batches()


def test_games_that_end_are_reported_by_all_lanes():
    reports = []
    play(CONNECT_FOUR, range(20), 8, evaluator=Apart(CONNECT_FOUR), num_lanes=2, on_games=reports.append)
    assert sum(reports) == 20 and min(reports) > 0
