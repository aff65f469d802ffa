"""Tests of Dots and Boxes: two boxes at once, random games in step with OpenSpiel, the laws."""

from pathlib import Path

import pytest
from games.openspiel import check_random_games

from azero.errors import BadInput
from azero.games import Game, make_game
from azero.games.laws.laws import check_laws

FILE = Path(__file__).parents[2] / "examples" / "games" / "dots_and_boxes.py"


def make_board(rows: int, columns: int) -> Game:
    return make_game(f"{FILE}:DotsAndBoxes(rows={rows},columns={columns})")


def test_a_line_that_closes_two_boxes_moves_again():
    state = make_board(1, 2).state_from_moves("b3 d3 b1 d1 a2 e2")
    assert state.current_player() == 0
    state.apply_action(state.game.text_to_action(state, "c2"))
    assert state.is_terminal() and state.final_score() == 2
    assert str(state).split("\n")[1].split() == ["2", "|", "X", "|", "X", "|"]


@pytest.mark.parametrize(("rows", "columns", "num_games"), [(3, 3, 30), (1, 4, 20), (4, 2, 20), (5, 5, 5)])
def test_random_games_in_step_with_openspiel(rows, columns, num_games):
    def to_ours(state, theirs, action):
        """OpenSpiel numbers the horizontal lines first."""
        row, column = divmod(action, columns)
        if row <= rows:
            return row * (2 * columns + 1) + column
        row, column = divmod(action - (rows + 1) * columns, columns + 1)
        return row * (2 * columns + 1) + columns + column

    theirs = f"dots_and_boxes(num_rows={rows},num_cols={columns})"
    check_random_games(make_board(rows, columns), theirs, num_games, 1, to_ours)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3)])
def test_the_laws_hold(rows, columns):
    check_laws(make_board(rows, columns), num_games=2, seed=0)


def test_a_board_with_too_many_lines_is_refused():
    with pytest.raises(BadInput, match="6 x 5 boxes have 71 lines, more than 63"):
        make_board(6, 5)
