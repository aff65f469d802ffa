"""Tests of tasks: the games or searches of a worker depend only on its task."""

from dataclasses import replace

import pytest

from azero.errors import BadInput
from azero.selfplay.pool import Pool
from azero.selfplay.tasks import Identities, PlayTask, SearchTask, play_task, search_task

from .games import TIC_TAC_TOE, assert_same, changed, config_with, is_open, new_weights, some_games


@pytest.fixture(scope="module")
def task() -> PlayTask:
    """A task to play three games."""
    return PlayTask(new_weights(config_with()), config_with(), Identities(), (0, 1, 2))


@pytest.fixture(scope="module")
def searches() -> list[SearchTask]:
    """Tasks to search two shards that differ only in name, and the first one again in another iteration."""
    what = [("00001-0000", 3), ("00001-0001", 3), ("00001-0000", 4)]
    weights, shard = new_weights(config_with()), some_games(TIC_TAC_TOE)
    return [SearchTask(weights, config_with(), Identities(), shard, name, iteration) for name, iteration in what]


@pytest.mark.parametrize("parallel_games", [1, 2, 100])
def test_games_are_the_same_however_many_are_played_at_once(task, parallel_games):
    other = replace(task, config=config_with(parallel_games=parallel_games))
    assert_same(play_task(other, lambda num: None), play_task(task, lambda num: None))


def test_a_task_tells_where_to_resign(task):
    task = replace(task, config=config_with(resign_error=0.05, resign_played_on_share=0.01))
    assert not play_task(task, lambda num: None).resigned.any()
    assert play_task(replace(task, resign_threshold=0.0), lambda num: None).resigned.any()


def test_a_worker_weighs_by_surprise_where_it_is_asked_to(task):
    plain = play_task(task, lambda num: None)
    weighed = play_task(replace(task, config=config_with(policy_surprise_share=0.5)), lambda num: None)
    assert_same(weighed._replace(weights=plain.weights, evaluations=plain.evaluations), plain)
    assert (plain.weights == 1).all() and len(set(weighed.weights)) > 3
    assert weighed.num_learnt == plain.num_learnt


def test_workers_search_what_their_tasks_say_and_note_when(searches):
    reports = []
    with Pool(2) as pool:
        found = dict(pool.run(search_task, searches, reports.append))
    for place, task in enumerate(searches):
        assert_same(found[place], search_task(task, lambda num: None))
        assert found[place].searched.tolist() == [task.iteration] * 12
        assert_same(task.shard, some_games(TIC_TAC_TOE))
    assert sum(reports) == 3 * is_open(some_games(TIC_TAC_TOE)).sum()
    for other in (1, 2):
        assert "visited" in changed(found[0], found[other]), "seeds should depend on shard and iteration"


def test_positions_are_not_searched_by_rules_that_have_changed(searches):
    task = replace(searches[0], identities=Identities("other"))
    with pytest.raises(BadInput, match=r"^tic_tac_toe has changed while it was being played; "):
        search_task(task, lambda num: None)
