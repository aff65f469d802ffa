"""Tests of boards: the symmetries of a rectangle, and a grid in text."""

import numpy as np
import pytest

from azero.games.boards import board_symmetries, draw_grid


def test_a_rectangle_has_four_symmetries():
    assert board_symmetries(2, 3).tolist() == [
        [0, 1, 2, 3, 4, 5],
        [2, 1, 0, 5, 4, 3],
        [5, 4, 3, 2, 1, 0],
        [3, 4, 5, 0, 1, 2],
    ]


def test_a_square_has_eight_symmetries():
    gathers = board_symmetries(2, 2)
    assert gathers.dtype == np.int32
    assert gathers[0].tolist() == [0, 1, 2, 3]
    assert sorted(gathers.tolist()) == [
        [0, 1, 2, 3], [0, 2, 1, 3], [1, 0, 3, 2], [1, 3, 0, 2],
        [2, 0, 3, 1], [2, 3, 0, 1], [3, 1, 2, 0], [3, 2, 1, 0],
    ]  # fmt: skip


@pytest.mark.parametrize(("height", "width"), [(3, 3), (4, 4), (3, 5), (5, 3)])
def test_neighbours_stay_neighbours(height, width):
    across = [(cell, cell + 1) for cell in range(height * width) if (cell + 1) % width]
    down = [(cell, cell + width) for cell in range((height - 1) * width)]
    neighbours = {frozenset(pair) for pair in across + down}
    gathers = board_symmetries(height, width)
    assert len(set(map(tuple, gathers.tolist()))) == (8 if height == width else 4)
    for gather in gathers:
        assert {frozenset(gather[list(pair)].tolist()) for pair in neighbours} == neighbours


def test_grid_has_column_names_below_and_row_names_on_the_left():
    drawn = draw_grid([["X", "."], ["12", "O"]], columns="ab", rows=["10", "9"])
    assert drawn == "10  X  .\n 9 12  O\n    a  b"


def test_grid_has_no_spaces_at_line_ends():
    assert draw_grid([["X", ""]], columns=["1", "2"], rows=[""]) == " X\n 1 2"


def test_grid_needs_a_name_for_every_row():
    with pytest.raises(ValueError, match="longer"):
        draw_grid([["X"], ["O"]], columns="a", rows="1")
