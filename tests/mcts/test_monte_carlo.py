"""Tests of plain Monte Carlo: even visits, exact means, and minimax values that converge to the exact ones."""

import math

import pytest
from cases import thorough

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.mcts import EpisodeSearch, FlatSearch, MinimaxSearch, Settings, Uct, rank_moves, root_value
from azero.mcts.roots.ranking import BY_VALUE
from azero.mcts.tree import UNPROVEN

from .minimax import Minimax, RandomPlay, moves_of
from .trees import check_tree, child_of, children_of, snapshot, walk

SETTINGS = Settings(is_proving=False, chosen_by=BY_VALUE)
NUM_SIMULATIONS = 20_000 if IS_COMPILED else 3000


def search_with(kind, state, num_simulations=NUM_SIMULATIONS, max_nodes=200_000):
    search = kind(state.game, Uct(), SETTINGS, max_nodes=max_nodes)
    search.start(0, state, seed=3)
    search.run([0], num_simulations)
    return search


def search_minimax(state, num_simulations, max_nodes=200_000):
    return search_with(MinimaxSearch, state, num_simulations, max_nodes)


@pytest.fixture(scope="module", params=["", "b2 a1 b1", "a1 b1 b2 c1"])
def flat(request):
    """Returns a position, and its search by the root's moves alone."""
    state = make_game("tic_tac_toe").state_from_moves(request.param)
    return state, search_with(FlatSearch, state)


def test_values_of_the_root_s_moves_are_those_of_random_play(flat):
    state, search = flat
    exact = RandomPlay()
    for action, after in moves_of(state):
        wins, draws, _ = exact.expect(after)
        mean = float(2 * wins + draws - 1)
        node = child_of(search, action)
        assert abs(node.W / node.N - mean) <= 4 * math.sqrt((float(1 - draws) - mean**2) / node.N)


def test_the_best_mean_is_played(flat):
    state, search = flat
    sign = 1 - 2 * state.current_player()
    means = {action: sign * child_of(search, action).W / child_of(search, action).N for action in state.legal_actions()}
    best = max(means, key=means.__getitem__)
    assert search.choose(0) == rank_moves(search)[0].action == best
    assert rank_moves(search)[0].value == means[best]


def test_a_flat_search_has_no_tree_below_the_root(flat):
    state, search = flat
    assert search.forest.trees[0].num_nodes == 1 + len(state.legal_actions())
    assert all(move.pv == [move.action] for move in rank_moves(search))
    assert -1 <= root_value(search) <= 1


def test_a_second_flat_search_goes_on_from_the_move_played():
    state = make_game("tic_tac_toe").state_from_moves("b2 a1")
    search = search_with(FlatSearch, state, 300)
    search.advance(0, 1)
    state.apply_action(1)
    search.run([0], 600)
    assert sum(child_of(search, action).N for action in state.legal_actions()) == 600


def check_values(search, root):
    """Asserts that every value is the minimax of the visited nodes below it; returns the number of inner nodes."""
    nodes, num_inner = search.forest.nodes[0], 0
    for index, state in walk(search, root):
        node = nodes[index]
        visited = [nodes[child] for child in children_of(nodes, index) if nodes[child].N > 0]
        if visited:
            best = max if state.current_player() == 0 else min
            minimax = best(child.W / child.N for child in visited)
            assert abs(node.W / node.N - minimax) < 1e-9
            assert node.num_visited == len(visited)
            num_inner += 1
        elif node.N > 0:
            assert float(node.W).is_integer() and abs(node.W) <= node.N, "W of a leaf should be a sum of outcomes"
            assert not state.is_terminal() or node.W == node.N * state.returns()[0] == node.N * node.proven
        if not state.is_terminal():
            assert node.proven == UNPROVEN
    check_tree(search, root)
    return num_inner


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("tic_tac_toe", ""),
        ("connect_four", "4433"),
        *thorough(("amazons(rows=4,columns=4)", ""), ("p_game(branching=3)", "")),
    ],
)
def test_values_are_the_minimax_of_the_leaves(name, moves):
    state = make_game(name).state_from_moves(moves)
    search = search_minimax(state, 300)
    assert check_values(search, state) > 20
    leaves = [node for node in search.forest.nodes[0][: search.forest.trees[0].num_nodes] if not node.first_child]
    assert all(leaf.N <= 1 for leaf in leaves if leaf.proven == UNPROVEN), "a second visit should continue to a child"


@pytest.mark.parametrize(
    ("name", "moves"),
    [
        ("tic_tac_toe", ""),
        ("connect_four", "4433"),
        *thorough(("amazons(rows=4,columns=4)", "a2-a1/a2"), ("p_game", "")),
    ],
)
def test_of_a_whole_episode_every_node_enters_the_tree(name, moves):
    state = make_game(name).state_from_moves(moves)
    search = search_with(EpisodeSearch, state, 20)
    check_values(search, state)
    nodes, ends = search.forest.nodes[0], 0
    for index, position in walk(search, state):
        if nodes[index].N > 0:
            assert position.is_terminal() != bool(nodes[index].first_child), "every leaf should be an end of the game"
            ends += position.is_terminal() * nodes[index].N
    assert ends == 20 and not search.forest.trees[0].is_full


@pytest.mark.parametrize("kind", [MinimaxSearch, EpisodeSearch])
def test_a_leaf_of_a_full_tree_is_worth_the_mean_of_its_outcomes(kind):
    state = make_game("connect_four").new_initial_state()
    search = search_with(kind, state, 2000, max_nodes=60)
    assert search.forest.trees[0].is_full
    assert check_values(search, state) > 5
    assert max(node.N for node in search.forest.nodes[0][:60] if not node.first_child) > 10


def test_values_stay_so_after_moves():
    state = make_game("connect_four").new_initial_state()
    search = search_minimax(state, 500)
    for action in (3, 3, 2):
        search.advance(0, action)
        state.apply_action(action)
        search.run([0], 200)
        assert check_values(search, state) > 10


@pytest.mark.parametrize("moves", ["b2 a1 b1 b3", "a1 b2 c3 b1", "b2 a1 a2 c2", "b2 a1 b1 c3"])
def test_with_time_tic_tac_toe_is_played_to_its_value(moves):
    state, minimax = make_game("tic_tac_toe").state_from_moves(moves), Minimax()
    search = search_minimax(state, NUM_SIMULATIONS)
    check_exact(search, state, minimax)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", [MinimaxSearch, EpisodeSearch])
def test_with_time_a_p_game_is_played_to_its_value(seed, kind):
    state, minimax = make_game(f"p_game(branching=2,depth=6,seed={seed})").new_initial_state(), Minimax()
    check_exact(search_with(kind, state), state, minimax)


def check_exact(search, state, minimax):
    root = search.forest.nodes[0][0]
    assert abs(root.W / root.N - minimax.solve(state)[0]) < 1e-9
    for action, after in moves_of(state):
        node = child_of(search, action)
        assert abs(node.W / node.N - minimax.solve(after)[0]) < 1e-9
    assert search.choose(0) in minimax.best_actions(state)


@pytest.mark.parametrize("kind", [FlatSearch, MinimaxSearch])
def test_moves_are_tried_evenly(kind):
    state = make_game("tic_tac_toe").state_from_moves("b2 a1")
    search, share = search_with(kind, state), 1 / 7
    bound = 4 * math.sqrt(share * (1 - share) / NUM_SIMULATIONS)
    visits = [child_of(search, action).N for action in state.legal_actions()]
    assert sum(visits) == search.forest.nodes[0][0].N == search.forest.trees[0].simulations == NUM_SIMULATIONS
    assert all(abs(N / NUM_SIMULATIONS - share) < bound for N in visits)


@pytest.mark.parametrize("kind", [FlatSearch, MinimaxSearch])
def test_a_win_in_one_is_played(kind):
    search = search_with(kind, make_game("connect_four").state_from_moves("171717"), 500)
    assert search.choose(0) == rank_moves(search)[0].action == 0 and rank_moves(search)[0].value == 1.0


def test_threads_make_no_difference():
    state = make_game("connect_four").new_initial_state()
    searches = [MinimaxSearch(state.game, Uct(), SETTINGS, None, 5, 50_000, threads) for threads in (1, 3)]
    for search in searches:
        for b in range(5):
            search.start(b, state, b)
        search.run(range(5), 300)
    one, other = ([snapshot(search, b) for b in range(5)] for search in searches)
    assert one == other and one[0] != one[1]
