"""Roots solved half-way through a search: what is found is so, hangs on nothing but the position and its tree, and is
made use of.
"""

import time

import numpy as np
import pytest

from azero.games import DRAW, LOSS, WIN, make_game
from azero.mcts import Puct, Search, Settings, rank_moves, root_value
from azero.mcts.root_solver import RootSolver, favourites_of
from azero.mcts.tree import UNPROVEN

from .evaluators import HashEvaluator
from .minimax import Minimax, moves_of
from .test_solver import random_positions
from .trees import child_of, children_of, walk

GAME = make_game("connect_four(rows=4,columns=4)")
NUM_POSITIONS = 12
PLENTY = 1 << 20

WON = make_game("connect_four").state_from_moves("4131")  # by 5, which makes three with both ends open
DRAWN = make_game("tic_tac_toe").state_from_moves("b2")  # by the corners; edges lose
LOST = make_game("tic_tac_toe").state_from_moves("b2b1a1")  # c3 alone does not lose at once: it does to a double threat


def searched(state, num_simulations=50, seconds=None, **settings):
    """Returns a search of `state` by an evaluator that knows nothing."""
    search = Search(state.game, Puct(), Settings(**settings), HashEvaluator(state.game), max_nodes=5000)
    search.start(0, state, seed=1)
    search.run([0], num_simulations, seconds)
    return search


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four(rows=4,columns=4)", "othello(size=4)"])
def test_what_is_found_is_so_and_nothing_is_left_out(name):
    game, best = make_game(name), Minimax()
    solver = RootSolver(game, PLENTY)
    for state in random_positions(game, NUM_POSITIONS, 4, seed=5):
        sign = 1 - 2 * state.current_player()
        truth = {action: sign * best.solve(after)[0] for action, after in moves_of(state)}
        known = {action: move.result for action, move in solver.solve(state, state.legal_actions(), {}).items()}
        if WIN in truth.values():
            assert known == {next(action for action in truth if truth[action] == WIN): WIN}
        else:
            assert known == truth


def test_the_line_of_a_win_is_the_game_played_to_its_end():
    solver, plies = RootSolver(GAME, PLENTY), []
    for state in random_positions(GAME, 4 * NUM_POSITIONS, 4, seed=6):
        for action, move in solver.solve(state, state.legal_actions(), {}).items():
            if move.result == WIN:
                after = state.clone()
                for each in [action, *move.line]:
                    after.apply_action(each)
                assert after.is_terminal() and after.returns()[state.current_player()] == 1
                plies.append(1 + len(move.line))
    assert len(plies) > 3 and max(plies) > 3


def test_what_is_found_does_not_hang_on_what_was_solved_before():
    states = random_positions(GAME, NUM_POSITIONS, 2, seed=7)
    limit, used, results = 300, RootSolver(GAME, 300), []
    for state in states:
        results.append(used.solve(state, state.legal_actions(), {}))
        assert results[-1] == RootSolver(GAME, limit).solve(state, state.legal_actions(), {})
    assert 0 < sum(map(bool, results)) < len(states), "the limit is to tell them apart"


def test_good_moves_to_try_first_save_positions_and_change_nothing_else():
    solver, visited = RootSolver(GAME, PLENTY), np.zeros(2, int)
    for state in random_positions(GAME, NUM_POSITIONS, 2, seed=9):
        favourites, best = {}, Minimax()
        for after in (each for _, move in moves_of(state) for each in [move, *(reply for _, reply in moves_of(move))]):
            if not after.is_terminal():
                favourites[after.hash_key()] = best.best_actions(after)[0]
        found = []
        for k, given in enumerate(({}, favourites)):
            known = solver.solve(state, state.legal_actions(), given)
            found.append({action: move.result for action, move in known.items()})
            visited[k] += solver.num_positions
        assert found[0] == found[1]
    assert visited[1] < visited[0]


def test_the_tree_s_favourites_are_its_most_visited_moves():
    search = searched(DRAWN, 400)
    nodes, best = search.forest.nodes[0], {}
    for index, state in walk(search, DRAWN):
        children = children_of(nodes, index)
        if children and (index == 0 or nodes[index].N >= 2):
            visits = {int(nodes[child].action): int(nodes[child].N) for child in children}
            most = [action for action, num in visits.items() if num == max(visits.values())]
            best.setdefault(state.hash_key(), set()).update(most)
    favourites = favourites_of(nodes, DRAWN)
    assert favourites.keys() == best.keys() and len(best) > 20
    assert all(action in best[key] for key, action in favourites.items())


def test_no_more_positions_are_visited_than_allowed():
    state = make_game("connect_four").new_initial_state()
    solver = RootSolver(state.game, 1000)
    assert solver.solve(state, state.legal_actions(), {}) == {}
    assert 900 < solver.num_positions <= 1000


def test_a_root_that_is_won_is_searched_no_further():
    search = searched(WON, solve_nodes=PLENTY)
    (best, *others) = rank_moves(search)
    assert search.forest.trees[0].simulations == 25
    assert (best.proven, best.proven_plies, best.value, root_value(search)) == ("win", None, 1.0, 1.0)
    assert len(best.pv) >= 3 and best.action == search.choose(0)
    assert all(move.proven is None for move in others)


def test_where_the_best_is_a_draw_losing_moves_are_left_alone_and_the_others_searched():
    search, half, best = searched(DRAWN, solve_nodes=PLENTY), searched(DRAWN, 25), Minimax()
    keeping = best.best_actions(DRAWN)
    assert search.forest.trees[0].simulations == 50 and root_value(search) == 0.0
    assert 0 < len(keeping) < len(DRAWN.legal_actions())
    for move in rank_moves(search):
        is_keeping = move.action in keeping
        assert (move.proven, move.value) == (("draw", 0.0) if is_keeping else ("loss", -1.0))
        assert is_keeping or move.visits == child_of(half, move.action).N
    assert search.choose(0) in keeping


def test_where_all_is_lost_the_search_goes_on_as_if_nothing_were_known():
    search, unsolved = searched(LOST, solve_nodes=PLENTY), searched(LOST)
    assert Minimax().solve(LOST)[0] == 1, "the first player's, who is not to move"
    assert [move.visits for move in rank_moves(search)] == [move.visits for move in rank_moves(unsolved)]
    assert {move.proven for move in rank_moves(search)} == {"loss"} and root_value(search) == -1.0


def test_a_kept_tree_is_searched_again_whatever_was_known_of_the_move():
    search = searched(DRAWN, solve_nodes=PLENTY)
    lost = next(move.action for move in rank_moves(search) if move.proven == "loss")
    search.advance(0, lost)
    assert search.known_moves[0] == {} and search.forest.nodes[0][0].proven == UNPROVEN
    search.run([0], 30)
    assert rank_moves(search)[0].proven == "win"


def test_trees_are_shared_among_threads():
    states = random_positions(GAME, 6, 2, seed=8)
    found = []
    for num_threads in (1, 3):
        settings, evaluator = Settings(solve_nodes=PLENTY), HashEvaluator(GAME)
        search = Search(GAME, Puct(), settings, evaluator, len(states), 5000, num_threads)
        for b, state in enumerate(states):
            search.start(b, state, seed=b)
        search.run(range(len(states)), 40)
        found.append([(search.known_moves[b], rank_moves(search, b)) for b in range(len(states))])
    assert found[0] == found[1] and any(known for known, _ in found[0])


def test_by_the_clock_it_takes_half_of_the_time_at_most():
    state = make_game("connect_four").new_initial_state()
    searched(state, 1, solve_nodes=10)  # compiles
    begin = time.perf_counter()
    search = searched(state, 1 << 30, seconds=0.4, solve_nodes=1 << 24)
    assert time.perf_counter() - begin < 10, "sixteen million positions would take longer"
    assert search.forest.trees[0].simulations > 1 and search.known_moves[0] == {}


def test_a_win_that_is_known_is_played_before_a_move_that_was_visited_more():
    search = searched(WON, solve_nodes=PLENTY)
    won = search.choose(0)
    other = next(action for action in WON.legal_actions() if action != won)
    child_of(search, other).N = 1000
    assert search.choose(0) == won and child_of(search, won).N <= 1


def test_results_are_told_for_the_player_to_move():
    second = make_game("tic_tac_toe").state_from_moves("a1b2c3")  # drawn by edges, lost by corners
    known = RootSolver(second.game, PLENTY).solve(second, second.legal_actions(), {})
    results = {action: move.result for action, move in known.items()}
    assert results == {1: DRAW, 3: DRAW, 5: DRAW, 7: DRAW, 2: LOSS, 6: LOSS}
