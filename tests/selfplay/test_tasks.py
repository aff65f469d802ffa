"""Tests of tasks: the games of a worker depend only on its task."""

from dataclasses import replace

import pytest

from azero.errors import BadInput
from azero.selfplay.tasks import Identities, PlayPlan, SizedSeeds, play_task

from .games import assert_same, config_with, new_weights


@pytest.fixture(scope="module")
def plan() -> PlayPlan:
    return PlayPlan(new_weights(config_with()), (config_with(),), Identities())


def play(plan, seeds=(0, 1, 2)):
    return play_task(plan, SizedSeeds(0, seeds), lambda num: None)


def test_a_worker_weighs_by_surprise_where_it_is_asked_to(plan):
    plain = play(plan)
    weighed = play(replace(plan, configs=(config_with(policy_surprise_share=0.5),)))
    assert_same(weighed._replace(weights=plain.weights, evaluations=plain.evaluations), plain)
    assert (plain.weights == 1).all() and len(set(weighed.weights)) > 3
    assert weighed.num_learnt == plain.num_learnt


def test_games_are_not_played_by_rules_that_have_changed(plan):
    with pytest.raises(BadInput, match=r"^tic_tac_toe has changed while it was being played; "):
        play(replace(plan, identities=Identities("other")))
