"""Tests of the root solver: its results are true, depend only on position and tree, and are used by the search."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from exact.test_solver import random_positions

from azero.exact.transpositions import new_table, note_action, noted_action
from azero.games import DRAW, LOSS, WIN, make_game
from azero.mcts import Puct, Settings, TreeSearch, rank_moves, root_value
from azero.mcts.proving.root_solver import KnownMove, RootSolver, write_known
from azero.mcts.tree import UNPROVEN

from .evaluators import HashEvaluator
from .minimax import Minimax, moves_of
from .trees import child_of, children_of, walk

pytestmark = pytest.mark.slow  # it compiles kernels of its own

GAME = make_game("connect_four(rows=4,columns=4)")
NUM_POSITIONS = 12
PLENTY = 1 << 20

WON = make_game("connect_four").state_from_moves("4131")  # by 5, which makes an open three
DRAWN = make_game("tic_tac_toe").state_from_moves("b2")  # corners draw; edges lose
LOST = make_game("tic_tac_toe").state_from_moves("b2b1a1")  # c3 loses to a double threat, all other moves at once


def never():
    return False


def searched(state, num_simulations=50, seconds=None, **settings):
    """Returns a search of `state` with an untrained evaluator."""
    search = TreeSearch(state.game, Puct(), Settings(**settings), HashEvaluator(state.game), max_nodes=5000)
    search.start(0, state, seed=1)
    search.run([0], num_simulations, seconds)
    return search


def solve(solver, state, num_simulations=1):
    """Returns a solver's results for a position after `num_simulations` of a search without proofs."""
    return solver.solve(state, searched(state, num_simulations, is_proving=False).forest.nodes[0], never)


def results_of(known):
    return {action: move.result for action, move in known.items()}


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four(rows=4,columns=4)", "othello(size=4)"])
def test_what_is_found_is_so_and_nothing_is_left_out(name):
    game, best = make_game(name), Minimax()
    solver = RootSolver(game, PLENTY)
    for state in random_positions(game, NUM_POSITIONS, 4, seed=5):
        sign = 1 - 2 * state.current_player()
        truth = {action: sign * best.solve(after)[0] for action, after in moves_of(state)}
        known = results_of(solve(solver, state))
        if WIN in truth.values():
            ((action, result),) = known.items()
            assert result == truth[action] == WIN
        else:
            assert known == truth


def test_the_line_of_a_win_is_the_game_played_to_its_end():
    solver, plies = RootSolver(GAME, PLENTY), []
    for state in random_positions(GAME, 4 * NUM_POSITIONS, 4, seed=6):
        for action, move in solve(solver, state).items():
            if move.result == WIN:
                after = state.clone()
                for each in [action, *move.line]:
                    after.apply_action(each)
                assert after.is_terminal() and after.returns()[state.current_player()] == 1
                plies.append(1 + len(move.line))
    assert len(plies) > 3 and max(plies) > 3


def test_what_is_found_does_not_hang_on_what_was_solved_before():
    limit = 300
    used, results = RootSolver(GAME, limit), []
    for state in random_positions(GAME, NUM_POSITIONS, 2, seed=7):
        results.append(solve(used, state, 30))
        assert results[-1] == solve(RootSolver(GAME, limit), state, 30)
    assert 0 < sum(map(bool, results)) < len(results), "the limit should solve some positions, but not all"


@pytest.mark.parametrize("limit", [*range(1, 20), 100, 1000])
def test_no_more_positions_are_visited_than_allowed(limit):
    state = make_game("connect_four").new_initial_state()
    solver = RootSolver(state.game, limit)
    assert solve(solver, state) == {}
    assert 0 < solver.num_positions <= limit


def test_a_tree_that_knows_what_is_good_saves_positions_and_changes_nothing_else(monkeypatch):
    game = make_game("othello(size=4)")
    monkeypatch.setattr(type(game.rules), "is_about_mobility", False)  # the order of moves is the tree's alone
    solver, visited = RootSolver(game, PLENTY), np.zeros(2, int)
    for state in random_positions(game, NUM_POSITIONS, 1, seed=9):
        found, best = [], Minimax()
        for k in range(2):
            search = searched(state, 200, is_proving=False)
            nodes = search.forest.nodes[0]
            for index, position in walk(search, state):
                good = best.best_actions(position) if k == 1 and not position.is_terminal() else []
                for child in children_of(nodes, index):
                    nodes[child].N = 1 + 100 * (nodes[child].action in good)
            nodes[0].N = 400
            found.append(results_of(solver.solve(state, nodes, never)))
            visited[k] += solver.num_positions
        assert WIN in found[0].values() or found[0] == found[1]
    assert visited[1] < 0.7 * visited[0]


def test_a_note_takes_no_other_s_place_and_tells_no_bounds():
    table = new_table(2)
    for key, action in ((1, 5), (2, 6), (1, 4), (3, 7)):
        note_action(table, np.uint64(key), action)
    assert [int(noted_action(table, np.uint64(key))) for key in (1, 2, 3)] == [5, 6, -1]
    assert (table.low == -np.inf).all() and (table.high == np.inf).all()
    assert noted_action(new_table(0), np.uint64(1)) == -1


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
    assert Minimax().solve(LOST)[0] == 1, "the first player, who is not to move, should win"
    assert [move.visits for move in rank_moves(search)] == [move.visits for move in rank_moves(unsolved)]
    assert {move.proven for move in rank_moves(search)} == {"loss"} and root_value(search) == -1.0


def test_what_the_tree_has_proven_counts_beside_what_is_known():
    """If the tree proves one move a draw, losing moves are marked as lost. If it proves a loss, none are marked."""
    for result, proven in ((DRAW, LOSS), (LOSS, UNPROVEN)):
        search = searched(DRAWN, 1)
        nodes = search.forest.nodes[0]
        sign = 1 - 2 * DRAWN.current_player()
        first, *others = children_of(nodes)
        nodes[first].proven = sign * result
        write_known(nodes, {int(nodes[child].action): KnownMove(LOSS, []) for child in others}, 9)
        assert {int(nodes[child].proven) for child in others} == {sign * proven if proven == LOSS else UNPROVEN}


def test_a_game_may_be_longer_than_a_proof_can_say():
    search = searched(DRAWN, 1)
    nodes = search.forest.nodes[0]
    first = nodes[children_of(nodes).start]
    write_known(nodes, {int(first.action): KnownMove(WIN, [int(first.action)])}, 100_000)
    assert first.proven_plies == 32_767 and nodes[0].proven == 1 - 2 * DRAWN.current_player()


def test_a_second_run_remembers_what_the_first_has_found():
    search = searched(DRAWN, solve_nodes=PLENTY)
    before = [(move.action, move.proven, move.proven_plies) for move in rank_moves(search)]
    search.run([0], 10)
    assert sorted((move.action, move.proven, move.proven_plies) for move in rank_moves(search)) == sorted(before)


def test_a_kept_tree_is_searched_again_whatever_was_known_of_the_move():
    search = searched(DRAWN, solve_nodes=PLENTY)
    lost = next(move.action for move in rank_moves(search) if move.proven == "loss")
    search.advance(0, lost)
    assert search.known_moves[0] == {} and search.forest.nodes[0][0].proven == UNPROVEN
    search.run([0], 30)
    assert rank_moves(search)[0].proven == "win"


@pytest.mark.parametrize("leaves", [1, 4])
def test_trees_are_shared_among_threads(leaves):
    states = random_positions(GAME, 6, 1, seed=8)
    found = []
    for num_threads in (1, 3):
        settings, evaluator = Settings(solve_nodes=PLENTY, leaves_per_tree=leaves), HashEvaluator(GAME)
        search = TreeSearch(GAME, Puct(), settings, evaluator, len(states), 5000, num_threads)
        for b, state in enumerate(states):
            search.start(b, state, seed=b)
        search.run(range(len(states)), 20)
        found.append([(search.known_moves[b], rank_moves(search, b)) for b in range(len(states))])
    assert found[0] == found[1] and sum(bool(known) for known, _ in found[0]) >= 3


@pytest.mark.parametrize("num_simulations", [1 << 30, 200])
def test_by_the_clock_solving_leaves_a_third_of_the_time_to_the_search(num_simulations):
    state = make_game("connect_four").new_initial_state()
    search = TreeSearch(state.game, Puct(), Settings(solve_nodes=1 << 24), HashEvaluator(state.game), max_nodes=500_000)
    search.prepare()
    search.start(0, state, seed=1)
    begin = time.perf_counter()
    search.run([0], num_simulations, 0.6)
    assert time.perf_counter() - begin < 3, "the time limit should end the solver before its 16 million positions"
    assert search.forest.trees[0].simulations > 100 and search.known_moves[0] == {}


def test_ctrl_c_ends_it():
    state = make_game("connect_four").new_initial_state()
    search = TreeSearch(state.game, Puct(), Settings(solve_nodes=1 << 24), HashEvaluator(state.game), 2, 5000, 2)
    for b in range(2):
        search.start(b, state, seed=b)
    search.prepare()
    timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        search.run([0, 1], 100)
    assert time.perf_counter() - begin < 3


def test_a_win_that_is_known_is_played_before_a_move_that_was_visited_more():
    search = searched(WON, solve_nodes=PLENTY)
    won = search.choose(0)
    other = next(action for action in WON.legal_actions() if action != won)
    child_of(search, other).N = 1000
    assert search.choose(0) == won and child_of(search, won).N < 1000


def test_results_are_told_for_the_player_to_move():
    second = make_game("tic_tac_toe").state_from_moves("a1b2c3")  # edges draw; corners lose
    edges, corners = (1, 3, 5, 7), (2, 6)
    found = results_of(solve(RootSolver(second.game, PLENTY), second))
    assert found == dict.fromkeys(edges, DRAW) | dict.fromkeys(corners, LOSS)


class Interrupting(HashEvaluator):
    """Raises KeyboardInterrupt once, at its third batch."""

    num_left = 3

    def evaluate(self, planes):
        self.num_left -= 1
        if self.num_left == 0:
            raise KeyboardInterrupt
        return super().evaluate(planes)


def test_what_was_interrupted_half_way_holds_nothing_back_of_the_next_search():
    """With or without a solver, the next search does all of its simulations."""
    state = make_game("connect_four").new_initial_state()
    search = TreeSearch(state.game, Puct(), Settings(solve_nodes=10), Interrupting(state.game), max_nodes=5000)
    search.start(0, state, seed=1)
    with pytest.raises(KeyboardInterrupt):
        search.run([0], 50)
    search.use_settings(search.settings._replace(solve_nodes=0))
    search.run([0], 50)
    assert search.forest.trees[0].simulations == 50
