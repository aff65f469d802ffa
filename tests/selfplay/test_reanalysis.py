"""Tests of reanalysis: the results of new searches replace the old ones, and nothing else changes."""

import numpy as np
import pytest
from mcts.evaluators import HashEvaluator

from azero.games import Game, State
from azero.mcts import Evaluator, Puct, Search, Settings
from azero.mcts.roots.gumbel import TARGET_TOTAL
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.records import Shard
from azero.selfplay.play import SelfPlay
from azero.selfplay.reanalysis import new_positions, search_anew

from .games import CONNECT_FOUR, GUMBEL, NOISY, PLAIN, PLAY, TIC_TAC_TOE, assert_same, changed, is_open, play, visits_of
from .test_groups import CACHED, Apart, InPasses

GAMES = [TIC_TAC_TOE, CONNECT_FOUR]
CAPPED = PLAY._replace(full_search_share=0.5, fast_simulations=4, temperature_plies=2)
FRESH = {"visited", "visits", "num_visited", "root_values", "proven", "evaluations", "cache_hits", "simulations"}


class Other(HashEvaluator):
    """An evaluator with other answers than the one that played."""

    def evaluate(self, planes):
        return super().evaluate(1 - planes)


def searched(
    game: Game,
    shard: Shard,
    num_slots: int = 4,
    settings: Settings = NOISY,
    evaluator: Evaluator | None = None,
    on_positions=lambda num: None,
    **how,
) -> Shard:
    selfplay = SelfPlay(game, Puct(), settings, CAPPED, evaluator or Other(game), num_slots, **how)
    return search_anew(selfplay, shard, lambda index: 100 + index, on_positions)


@pytest.fixture(scope="module", params=GAMES, ids=str)
def game(request) -> Game:
    return request.param


@pytest.fixture(scope="module")
def shard(game) -> Shard:
    """Six games. Half of their searches are fast."""
    return play(game, range(6), playing=CAPPED)


def test_positions_to_learn_from_are_searched_and_nothing_else_changes(game, shard):
    fresh = searched(game, shard)
    assert changed(fresh, shard) - {"proven", "cache_hits"} == FRESH - {"proven", "cache_hits"}
    learnt = is_open(shard)
    assert 0 < learnt.sum() < (shard.weights > 0).sum() < len(learnt)
    for name in ("num_visited", "root_values", "proven"):
        assert getattr(fresh, name)[~learnt].tobytes() == getattr(shard, name)[~learnt].tobytes(), "fast or proven"
    is_other = (visits_of(fresh, game) != visits_of(shard, game)).any(axis=1)
    assert is_other[learnt].mean() > 0.5 and not is_other[~learnt].any()
    assert [array.dtype for array in fresh] == [array.dtype for array in shard]


@pytest.mark.parametrize("settings", [NOISY, PLAIN], ids=["noisy", "plain"])
def test_it_finds_what_a_lone_search_finds(game, shard, settings):
    fresh, num_simulations = searched(game, shard, settings=settings), 0
    search = Search(game, Puct(), settings, evaluator := Other(game), max_nodes=2_000)
    visits = visits_of(fresh, game)
    for k in np.flatnonzero(is_open(shard)):
        search.start(0, State.from_record(game, shard.states[k]), seed=100 + int(k))
        search.run([0], CAPPED.num_simulations)
        root, sign = search.forest.nodes[0][0], 1 - 2 * shard.players[k]
        children = search.forest.nodes[0][root.first_child : root.first_child + root.num_children]
        is_proven = root.proven != UNPROVEN
        assert fresh.proven[k] == (sign * root.proven if is_proven else UNPROVEN)
        assert fresh.root_values[k] == np.float32(sign * (root.proven if is_proven else root.W / root.N))
        if (children.proven == UNPROVEN).all():
            assert visits[k][children.action].tolist() == children.N.tolist()
        num_simulations += int(search.forest.trees[0].simulations)
    assert fresh.simulations.tolist() == [num_simulations]
    assert fresh.evaluations.tolist() == [sum(evaluator.batch_sizes)]


def test_what_a_search_proves_is_on_record_and_the_rest_is_not(game):
    """The games were played without proofs. Now a win in one is seen, and is the whole target."""
    before = play(game, range(6), settings=PLAIN)
    assert (before.proven == UNPROVEN).all()
    fresh, last = searched(game, before), np.cumsum(before.lengths) - 1
    won = last[before.results()[last] == 1]
    assert len(won) and (fresh.proven[won] == 1).all() and (fresh.root_values[won] == 1).all()
    assert (fresh.num_visited[won] == 1).all()
    assert (fresh.proven == UNPROVEN).any()
    again = searched(game, fresh, settings=PLAIN)
    assert np.array_equal(again.proven, fresh.proven), "a search without proofs should keep old proofs"


@pytest.mark.parametrize("settings", [NOISY, GUMBEL, CACHED], ids=["noisy", "gumbel", "cached"])
def test_it_finds_the_same_however_many_are_searched_at_once_and_by_whom(game, shard, settings):
    expected = searched(game, shard, settings=settings, evaluator=HashEvaluator(game))
    for num_slots in (1, 3, 100):
        assert_same(searched(game, shard, num_slots, settings=settings, evaluator=HashEvaluator(game)), expected)
    for evaluator, num_threads in ((InPasses(game, 3), 1), (Apart(game, 4), 1), (Apart(game), 3)):
        other = searched(game, shard, 7, settings=settings, evaluator=evaluator, num_threads=num_threads)
        assert changed(other, expected) <= {"evaluations", "cache_hits"}  # caches depend on the order
        assert other.cache_hits + other.evaluations == expected.cache_hits + expected.evaluations
        assert sum(evaluator.batch_sizes) == other.evaluations[0]


def test_with_gumbel_the_target_is_the_improved_policy(game, shard):
    settings = GUMBEL._replace(is_proving=False, is_looking_ahead=False)
    fresh, learnt = searched(game, shard, settings=settings), is_open(shard)
    totals = visits_of(fresh, game).sum(axis=1)
    assert (abs(totals - TARGET_TOTAL) <= 9)[learnt & (fresh.num_visited > 1)].all()
    assert fresh.simulations.tolist() == [31 * learnt.sum()], "the root's evaluation is added"


def test_a_position_has_its_ply_in_its_game(game, shard):
    indices = np.arange(shard.num_positions)
    positions = new_positions(shard, indices, [0] * len(indices))
    assert positions.plies.tolist() == [ply for length in shard.lengths for ply in range(length)]


def test_positions_that_are_searched_are_reported(game, shard):
    reports = []
    searched(game, shard, on_positions=reports.append)
    assert sum(reports) == is_open(shard).sum() and 0 < min(reports) <= max(reports) <= 4


def test_a_shard_with_nothing_to_learn_from_stays_as_it_is(game, shard):
    fast = shard._replace(weights=np.zeros_like(shard.weights))
    fresh = searched(game, fast)
    assert changed(fresh, fast) == {"evaluations", "simulations"} | ({"cache_hits"} if shard.cache_hits[0] else set())
    assert fresh.evaluations.tolist() == fresh.simulations.tolist() == [0]
