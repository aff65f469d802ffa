"""Tests of policy surprise weighting: the weights by their definition."""

import numpy as np
import pytest
from mcts.evaluators import HashEvaluator

from azero.games import State
from azero.selfplay.data.surprise import weigh_by_surprise

from .games import CONNECT_FOUR, PLAY, TIC_TAC_TOE, assert_same, play, visits_of, with_visits

HALF_FAST = PLAY._replace(full_search_share=0.5, fast_simulations=5)


def surprise_of(game, evaluator, shard, index: int) -> float:
    """Returns KL(policy || prior) of a position, by its definition."""
    state = State.from_record(game, shard.states[index])
    logits, _ = evaluator.evaluate(state.planes()[None])
    legal = state.legal_actions()
    prior = np.exp(logits[0, legal].astype(float))
    prior /= prior.sum()
    visits = visits_of(shard, game)[index]
    policy = visits[legal] / visits.sum()
    return float(sum(p * np.log(p / q) for p, q in zip(policy, prior, strict=True) if p > 0))


@pytest.mark.parametrize("game", [TIC_TAC_TOE, CONNECT_FOUR])
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_share_of_each_games_weight_goes_by_surprise(game, share):
    evaluator, shard = HashEvaluator(game), play(game, range(6), playing=HALF_FAST)
    weighed = weigh_by_surprise(game, evaluator, shard, share)
    assert weighed.weights.dtype == np.float32
    assert_same(weighed._replace(weights=shard.weights, evaluations=shard.evaluations), shard)
    assert weighed.evaluations[0] - shard.evaluations[0] == shard.num_learnt, "each is evaluated once more"
    assert_same(weigh_by_surprise(game, evaluator, weighed, share)._replace(evaluations=weighed.evaluations), weighed)
    start = 0
    for length in shard.lengths:
        own = range(start, start + length)
        learnt = [k for k in own if shard.weights[k] == 1]
        surprises = {k: surprise_of(game, evaluator, shard, k) for k in learnt}
        for k in own:
            by_surprise = len(learnt) * surprises[k] / sum(surprises.values()) if k in learnt else 0
            expected = (1 - share) * shard.weights[k] + share * by_surprise
            assert weighed.weights[k] == pytest.approx(expected, rel=1e-4, abs=1e-6)
        assert weighed.weights[start : start + length].sum() == pytest.approx(len(learnt), rel=1e-5)
        start += length


def test_where_nothing_surprises_all_stay_alike():
    class Prophet:
        """An evaluator whose policy is that of the search."""

        rows, is_on_device = 0, False

        def evaluate(self, planes):
            return np.where(visits_of(sure, TIC_TAC_TOE) > 0, 0, -1000).astype(np.float32), np.zeros(
                len(planes), np.float32
            )

    shard = play(TIC_TAC_TOE, range(1))
    sure = with_visits(shard, np.eye(9)[shard.actions])
    assert np.array_equal(weigh_by_surprise(TIC_TAC_TOE, Prophet(), sure, 0.5).weights, shard.weights)
