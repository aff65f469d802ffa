"""Tests of returns: TD(lambda) by its definition, and the targets made from them."""

import numpy as np
import pytest

from azero.selfplay.data.returns import ends_of, write_returns
from azero.selfplay.data.samples import Targets, results_to_learn

from .games import CONNECT_FOUR, play


@pytest.fixture(scope="module")
def shard():
    """Games with random players to move, as if turns did not alternate."""
    made = play(CONNECT_FOUR, range(6))
    rng = np.random.default_rng(0)
    return made._replace(players=rng.integers(0, 2, made.num_positions).astype(np.int8))


def games_of(shard):
    """Yields the indices of each game's positions."""
    begin = 0
    for length in shard.lengths:
        yield range(begin, begin + length)
        begin += length


def return_of(shard, places, at, value_lambda):
    """Returns the sum by definition: values have weights lambda^k (1 - lambda), and the result has the rest."""
    sign = {place: 1 if shard.players[place] == shard.players[at] else -1 for place in places}
    total, weight = 0.0, 1.0
    for place in range(at, places.stop):
        total += weight * (1 - value_lambda) * sign[place] * float(shard.root_values[place])
        weight *= value_lambda
    return total + weight * float(shard.outcomes[at]) * (1 - 2 * int(shard.players[at]))


@pytest.mark.parametrize("value_lambda", [0.0, 0.5, 0.9, 1.0])
def test_returns_are_the_sums_of_their_definition(shard, value_lambda):
    indices = np.random.default_rng(1).permutation(shard.num_positions)
    returns, ends = np.zeros(len(indices)), ends_of(shard, indices)
    write_returns(shard.players, shard.root_values, shard.outcomes, indices, ends, 1 - value_lambda, returns)
    places_of = {at: places for places in games_of(shard) for at in places}
    assert [places_of[at].stop for at in indices] == ends.tolist()
    expected = [return_of(shard, places_of[at], at, value_lambda) for at in indices]
    assert returns == pytest.approx(expected, abs=1e-6)


def test_what_is_learnt_is_a_distribution_whose_mean_is_the_return(shard):
    indices = np.arange(shard.num_positions)
    results = results_to_learn(shard, indices, Targets(value_lambda=0.9))
    assert results.min() >= 0 and results.sum(axis=1) == pytest.approx(1)
    places_of = {at: places for places in games_of(shard) for at in places}
    means = [return_of(shard, places_of[at], at, 0.9) for at in indices]
    assert results[:, 0] - results[:, 2] == pytest.approx(means, abs=1e-6)
    plies_left = ends_of(shard, indices) - indices
    is_drawn = shard.outcomes == 0
    assert results[is_drawn, 1] == pytest.approx(0.9 ** plies_left[is_drawn]) and not results[~is_drawn, 1].any()


def test_a_lambda_of_one_is_the_result_and_of_zero_the_search(shard):
    indices = np.arange(shard.num_positions)
    plain = results_to_learn(shard, indices, Targets())
    assert np.array_equal(results_to_learn(shard, indices, Targets(value_lambda=1.0)), plain)
    assert set(np.unique(plain)) <= {0.0, 1.0}
    own = results_to_learn(shard, indices, Targets(value_lambda=0.0))
    assert own[:, 0] - own[:, 2] == pytest.approx(shard.root_values, abs=1e-6) and not own[:, 1].any()
