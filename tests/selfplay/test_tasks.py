"""Tests of tasks: the games of a worker depend only on its task."""

from dataclasses import replace

import pytest

from azero.errors import BadInput
from azero.selfplay.pool import Pool
from azero.selfplay.tasks import Identities, PlayTask, play_task

from .games import assert_same, config_with, new_weights


@pytest.fixture(scope="module")
def task() -> PlayTask:
    """A task to play three games."""
    return PlayTask(new_weights(config_with()), config_with(), Identities(), (0, 1, 2))


@pytest.mark.parametrize("parallel_games", [1, 2, 100])
def test_games_are_the_same_however_many_are_played_at_once(task, parallel_games):
    other = replace(task, config=config_with(parallel_games=parallel_games))
    assert_same(play_task(other, lambda num: None), play_task(task, lambda num: None))


def test_a_worker_weighs_by_surprise_where_it_is_asked_to(task):
    plain = play_task(task, lambda num: None)
    weighed = play_task(replace(task, config=config_with(policy_surprise_share=0.5)), lambda num: None)
    assert_same(weighed._replace(weights=plain.weights, evaluations=plain.evaluations), plain)
    assert (plain.weights == 1).all() and len(set(weighed.weights)) > 3
    assert weighed.num_learnt == plain.num_learnt


def test_workers_play_what_their_tasks_say_and_note_when(task):
    tasks, reports = [replace(task, seeds=seeds) for seeds in ((0, 1), (2,), (1, 0))], []
    with Pool(2) as pool:
        found = dict(pool.run(play_task, tasks, reports.append))
    for place, own in enumerate(tasks):
        assert_same(found[place], play_task(own, lambda num: None))
    assert sum(reports) == 5


def test_games_are_not_played_by_rules_that_have_changed(task):
    with pytest.raises(BadInput, match=r"^tic_tac_toe has changed while it was being played; "):
        play_task(replace(task, identities=Identities("other")), lambda num: None)
