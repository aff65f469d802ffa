"""Tests of the Connect Four solver: Pons' scores, published values of small boards, and the general solver."""

from pathlib import Path

import numpy as np
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.exact.connect_four import ConnectFourSolver
from azero.exact.solver import solve
from azero.games import DRAW, LOSS, WIN, make_game
from azero.games.connect_four.rules import ConnectFour

from .test_solver import random_positions

PONS = Path(__file__).parents[1] / "data" / "connect4_pons"
GAME = make_game("connect_four")
compiled_only = pytest.mark.skipif(not IS_COMPILED, reason="takes hours in plain Python")


@compiled_only
@pytest.mark.parametrize(
    ("name", "num"),
    [("Test_L3_R1", 1000), ("Test_L2_R1", 1000), ("Test_L2_R2", 200), ("Test_L1_R1", 20), ("Test_L1_R2", 3)],
)
def test_results_are_those_of_pons(name, num):
    solver = ConnectFourSolver(GAME.rules)
    for line in (PONS / name).read_text().splitlines()[:num]:
        moves, score = line.split()
        assert solver.solve(GAME.state_from_moves(moves)) == np.sign(int(score)), line


@compiled_only
@pytest.mark.parametrize(
    ("columns", "rows", "result"),
    [(4, 4, DRAW), (5, 4, DRAW), (4, 5, DRAW), (5, 5, DRAW), (6, 4, LOSS), (4, 6, DRAW)],
)
def test_small_boards(columns, rows, result):
    """Values of Tromp, tromp.github.io/c4/c4.html."""
    game = make_game(f"connect_four(rows={rows},columns={columns})")
    assert ConnectFourSolver(game.rules).solve(game.new_initial_state()) == result


@compiled_only
@pytest.mark.long
@pytest.mark.parametrize(("columns", "rows", "result"), [(6, 5, DRAW), (5, 6, DRAW), (6, 6, LOSS)])
def test_middling_boards(columns, rows, result):
    game = make_game(f"connect_four(rows={rows},columns={columns})")
    assert ConnectFourSolver(game.rules, log_entries=24).solve(game.new_initial_state()) == result


@pytest.mark.parametrize("size", ["rows=4,columns=4", "rows=4,columns=8", "rows=8,columns=4", "rows=7,columns=8"])
def test_the_solver_of_all_games_says_the_same(size):
    game = make_game(f"connect_four({size})")
    solver = ConnectFourSolver(game.rules)
    least = max(6, game.max_plies - 14)
    for state in random_positions(game, 60 if IS_COMPILED else 2, least):
        assert solver.solve(state) == solve(state).value * (1 - 2 * state.current_player()), state.history()


@compiled_only
def test_a_table_that_overflows_does_no_harm():
    small, large = ConnectFourSolver(GAME.rules, log_entries=0), ConnectFourSolver(GAME.rules)
    for state in random_positions(GAME, 30, 18):
        assert small.solve(state) == large.solve(state), state.history()


def test_questions_agree_with_the_result():
    solver = ConnectFourSolver(GAME.rules)
    for state in random_positions(GAME, 30 if IS_COMPILED else 2, 30):
        result = solver.solve(state)
        assert [solver.is_at_least(state, least) for least in (LOSS, DRAW, WIN)] == [
            True,
            result >= DRAW,
            result == WIN,
        ]


def test_what_one_question_proved_stands_beside_the_answer_to_another():
    solver = ConnectFourSolver(GAME.rules)
    drawn = [state for state in random_positions(GAME, 60, 30) if solver.solve(state) == DRAW]
    for state in drawn:
        for least in (DRAW, WIN, DRAW):
            assert solver.is_at_least(state, least) == (least == DRAW)
        assert solver.num_nodes == 1, state.history()
    assert drawn


def test_a_win_at_once_takes_no_search():
    solver = ConnectFourSolver(GAME.rules)
    assert solver.is_at_least(GAME.state_from_moves("112233"), WIN) and solver.num_nodes == 0


def test_beyond_the_limit_nothing_is_known():
    solver = ConnectFourSolver(GAME.rules)
    assert solver.solve(GAME.new_initial_state(), node_limit=1000) is None
    assert solver.num_nodes == 1000


def test_a_board_of_more_than_64_bits_is_refused():
    with pytest.raises(BadInput, match="rows=8, columns=8"):
        ConnectFourSolver(ConnectFour(8, 8))
