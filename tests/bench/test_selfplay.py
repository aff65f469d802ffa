"""Tests of the benchmark of self-play: what is counted, and when."""

import time

import numpy as np
import pytest

from azero.bench.rates import NUM_TURNS
from azero.bench.selfplay import _InTurns, _Opening, _TimeIsUp, count_whole_games, measure_selfplay, play_in_turns
from azero.config.reading import find_config, load_config

pytestmark = pytest.mark.thorough

CONFIG = load_config(find_config("smoke"), ["device.device=cpu", "search.cache_mib=0"])


class Judge:
    """Answers with its own name, after some time, and records the batch sizes."""

    rows, is_on_device = 0, False

    def __init__(self, name, seconds=0.0):
        self.name, self.seconds, self.asked = name, seconds, []

    def evaluate(self, planes):
        time.sleep(self.seconds)
        self.asked.append(len(planes))
        return self.name, self.name


def test_whole_games_of_every_slot():
    """A game of tic-tac-toe has 5 to 9 plies of 16 simulations. The first simulation of a tree evaluates the root."""
    evaluations, simulations = count_whole_games(CONFIG)
    games = CONFIG.selfplay.parallel_games
    assert games * 5 < evaluations <= simulations <= games * 9 * 16
    assert count_whole_games(CONFIG) == (evaluations, simulations)


def test_the_opening_is_another_evaluators():
    first, then, over = Judge("first"), Judge("then"), []
    opening = _Opening(first, 10, then, lambda: over.append(list(first.asked)))
    answers = [opening.evaluate(np.zeros((4, 1)))[0] for _ in range(5)]
    assert answers == ["first"] * 3 + ["then"] * 2
    assert over == [[4, 4]], "should be reported once, before the last evaluation of the opening"


def test_turns_count_what_is_done_after_the_first_call():
    nets = iter(range(100, 200))
    turns = _InTurns(Judge("net", 0.002), lambda: next(nets), 0.01)
    with pytest.raises(_TimeIsUp):
        for _ in range(1000):
            turns.evaluate(np.zeros((3, 1)))
    assert [turn.net for turn in turns.turns] == [100 + turn for turn in range(NUM_TURNS)]
    assert all(turn.selfplay <= 3 / 0.002 for turn in turns.turns)


def test_a_worker_plays_until_its_time_is_up():
    ready = []
    turns = play_in_turns(CONFIG, 100, 0.05, lambda: ready.append(1))
    assert len(turns) == NUM_TURNS and ready == [1]
    assert all(turn.selfplay > 0 and turn.net > 0 for turn in turns)


@pytest.fixture(autouse=True)
def short_figures(monkeypatch):
    monkeypatch.setattr("azero.bench.selfplay._LEAST_S", 0.0)


def test_a_figure_takes_some_seconds_whatever_is_asked_for(monkeypatch):
    taken = []
    monkeypatch.setattr("azero.bench.selfplay._LEAST_S", 5.0)
    monkeypatch.setattr("azero.bench.selfplay.play_in_turns", lambda config, num, seconds: taken.append(seconds) or [])
    for seconds in (0.1, 7.0):
        measure_selfplay(CONFIG, seconds)
    assert taken == [5.0, 7.0]


def test_one_worker():
    (row,) = measure_selfplay(CONFIG, 0.05)
    assert row.workers == 1 and row.parallel_games == 16
    assert row.simulations_per_s >= row.evaluations_per_s > 0 and row.share_of_net > 0


def test_an_opening_may_take_its_time(monkeypatch):
    monkeypatch.setattr("azero.bench.selfplay._SILENT_S", 0.0)
    ready = []
    evaluations, _ = count_whole_games(CONFIG)
    play_in_turns(CONFIG, 3 * evaluations, 0.01, lambda: ready.append(1))
    assert ready == [1]


def test_where_the_cache_knows_all_positions_there_is_no_row():
    config = load_config(find_config("smoke"), ["device.device=cpu", "search.cache_mib=8"])
    assert [row.cache_mib for row in measure_selfplay(config, 2.0)] == [0]


@pytest.mark.long
def test_the_cache_adds_simulations():
    changes = ["device.device=cpu", "selfplay.num_workers=1", "search.cache_mib=8", "game.name=connect_four"]
    without, cached = measure_selfplay(load_config(find_config("smoke"), changes), 0.05)
    assert (without.cache_mib, cached.cache_mib) == (0, 8)
    assert cached.simulations_per_s / cached.evaluations_per_s > without.simulations_per_s / without.evaluations_per_s


@pytest.mark.long
def test_several_workers_begin_together_and_are_added_up():
    config = load_config(find_config("smoke"), ["device.device=cpu", "selfplay.num_workers=2", "search.cache_mib=0"])
    one, two = measure_selfplay(config, 0.2)
    assert (one.workers, two.workers) == (1, 2)
    assert two.evaluations_per_s > 0 and two.share_of_net > 0
