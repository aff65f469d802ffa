"""Tests of returns: TD(lambda) by its definition, and the targets made from them."""

import numpy as np
import pytest

from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.samples import Targets, ends_of, results_to_learn, write_returns

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
    """Returns the sum by definition: values have weights lambda^k (1 - lambda), and the known result has the rest."""
    sign = {place: 1 if shard.players[place] == shard.players[at] else -1 for place in places}
    total, weight = 0.0, 1.0
    for place in range(at, places.stop):
        if shard.proven[place] != UNPROVEN:
            return total + weight * sign[place] * int(shard.proven[place])
        total += weight * (1 - value_lambda) * sign[place] * float(shard.root_values[place])
        weight *= value_lambda
    return total + weight * float(shard.outcomes[at]) * (1 - 2 * int(shard.players[at]))


def returns_of(shard, indices, value_lambda):
    """Returns the means of the returns of some positions."""
    results = np.zeros((len(indices), 3))
    fields = shard.players, shard.root_values, shard.proven, shard.outcomes
    write_returns(*fields, indices, ends_of(shard, indices), value_lambda, results)
    assert results.min() >= 0 and results.sum(axis=1) == pytest.approx(1)
    return results[:, 0] - results[:, 2]


@pytest.mark.parametrize("value_lambda", [0.0, 0.5, 0.9, 1.0])
def test_returns_are_the_sums_of_their_definition(shard, value_lambda):
    indices = np.random.default_rng(1).permutation(shard.num_positions)
    places_of = {at: places for places in games_of(shard) for at in places}
    assert [places_of[at].stop for at in indices] == ends_of(shard, indices).tolist()
    expected = [return_of(shard, places_of[at], at, value_lambda) for at in indices]
    assert returns_of(shard, indices, value_lambda) == pytest.approx(expected, abs=1e-6)


def test_no_return_depends_on_what_comes_after_a_proof(shard):
    indices = np.arange(shard.num_positions)
    later = shard._replace(outcomes=-shard.outcomes)
    for places in games_of(shard):
        proofs = [at for at in places if shard.proven[at] != UNPROVEN]
        before = np.arange(places.start, (proofs or [places.start - 1])[-1] + 1)
        assert len(proofs) == 0 or np.array_equal(returns_of(shard, before, 0.9), returns_of(later, before, 0.9))
    unproven = [each._replace(proven=np.full(len(indices), UNPROVEN, np.int8)) for each in (shard, later)]
    assert not np.array_equal(*(returns_of(each, indices, 0.9) for each in unproven))


def test_what_is_learnt_of_a_known_result_is_the_result(shard):
    indices = np.arange(shard.num_positions)
    known = shard._replace(proven=np.random.default_rng(2).integers(-1, 2, len(indices)).astype(np.int8))
    results = results_to_learn(known, indices, Targets(value_lambda=0.9))
    assert np.array_equal(results, np.eye(3, dtype=np.float32)[1 - known.proven])


def test_a_drawn_game_leaves_its_share_to_draws(shard):
    open_ended = shard._replace(proven=np.full(shard.num_positions, UNPROVEN, np.int8))
    indices = np.arange(shard.num_positions)
    results = results_to_learn(open_ended, indices, Targets(value_lambda=0.9))
    plies_left, is_drawn = ends_of(shard, indices) - indices, shard.outcomes == 0
    assert is_drawn.any() and not is_drawn.all()
    assert results[is_drawn, 1] == pytest.approx(0.9 ** plies_left[is_drawn]) and not results[~is_drawn, 1].any()


def test_a_lambda_of_one_is_the_result_and_of_zero_the_search(shard):
    indices = np.arange(shard.num_positions)
    plain = results_to_learn(shard, indices, Targets())
    assert np.array_equal(plain, np.eye(3, dtype=np.float32)[1 - shard.results()])
    own = results_to_learn(shard, indices, Targets(value_lambda=0.0))
    is_open = shard.proven == UNPROVEN
    assert is_open.any() and not is_open.all()
    assert (own[:, 0] - own[:, 2])[is_open] == pytest.approx(shard.root_values[is_open], abs=1e-6)
