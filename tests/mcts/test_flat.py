"""Tests of flat Monte Carlo: even visits, exact means, and the move with the best mean."""

import math

import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.mcts import FlatSearch, Settings, Uct, rank_moves, root_value
from azero.mcts.roots.choice import BY_VALUE

from .minimax import RandomPlay, moves_of
from .trees import child_of

GAME = make_game("tic_tac_toe")
NUM_SIMULATIONS = 40_000 if IS_COMPILED else 2_000


def search_flat(state, num_simulations=NUM_SIMULATIONS, seed=3):
    search = FlatSearch(state.game, Uct(), Settings(is_proving=False, chosen_by=BY_VALUE))
    search.start(0, state, seed)
    search.run([0], num_simulations)
    return search


@pytest.fixture(scope="module", params=["", "b2 a1 b1", "a1 b1 b2 c1"])
def searched(request):
    state = GAME.state_from_moves(request.param)
    return state, search_flat(state)


def test_moves_are_tried_evenly(searched):
    state, search = searched
    visits = [child_of(search, action).N for action in state.legal_actions()]
    assert sum(visits) == search.forest.nodes[0][0].N == search.forest.trees[0].simulations == NUM_SIMULATIONS
    share = 1 / len(visits)
    assert all(abs(N / NUM_SIMULATIONS - share) < 4 * math.sqrt(share * (1 - share) / NUM_SIMULATIONS) for N in visits)


def test_values_are_those_of_random_play(searched):
    state, search = searched
    exact = RandomPlay()
    for action, after in moves_of(state):
        wins, draws, _ = exact.expect(after)
        mean = float(2 * wins + draws - 1)
        node = child_of(search, action)
        assert abs(node.W / node.N - mean) <= 4 * math.sqrt((float(1 - draws) - mean**2) / node.N)


def test_the_best_mean_is_played(searched):
    state, search = searched
    sign = 1 - 2 * state.current_player()
    means = {action: sign * child_of(search, action).W / child_of(search, action).N for action in state.legal_actions()}
    best = max(means, key=means.__getitem__)
    assert search.choose(0) == rank_moves(search)[0].action == best
    assert rank_moves(search)[0].value == means[best]


def test_there_is_no_tree_below_the_root(searched):
    state, search = searched
    assert search.forest.trees[0].num_nodes == 1 + len(state.legal_actions())
    assert all(move.pv == [move.action] for move in rank_moves(search))
    assert -1 <= root_value(search) <= 1


def test_a_win_in_one_is_played():
    state = make_game("connect_four").state_from_moves("171717")
    search = search_flat(state, 500)
    assert search.choose(0) == 0 and child_of(search, 0).W == child_of(search, 0).N


def test_a_second_search_goes_on_from_the_move_played():
    state = GAME.state_from_moves("b2 a1")
    search = search_flat(state, 300)
    search.advance(0, 1)
    state.apply_action(1)
    search.run([0], 600)
    assert sum(child_of(search, action).N for action in state.legal_actions()) == 600
