"""Boards of squares, points and hexagons, and pieces from the characters of a drawn board."""

import functools
import math
from collections.abc import Mapping, Sequence

from azero.games.boards import LETTERS, cell_to_text
from azero.games.pictures.picture import Board, Cell, Edge, Label, Piece

_RADIUS = 1 / math.sqrt(3)  # of a hexagon that is 1 wide


@functools.lru_cache(maxsize=64)
def squares(
    height: int,
    width: int,
    style: str = "squares",
    shape: str = "square",
    letters: str = LETTERS,
    is_top_first: bool = False,
    stars: tuple[tuple[int, int], ...] = (),
) -> Board:
    """Returns a rectangle of cells, numbered by rows from the top left, with the names of rows and columns.

    Args:
      style: one of `STYLES`. On "squares" the cells are chequered. On "points" and "lines" lines are drawn.
      shape: of each cell, one of `SHAPES`.
      letters: the names of the columns.
      is_top_first: whether row 1 is the top row in names. Otherwise it is the bottom row.
      stars: row and column, from the top left, of each star point.
    """
    places = [(row, column) for row in range(height) for column in range(width)]
    cells = tuple(
        Cell(
            cell_to_text(row, column, height, letters, is_top_first),
            column + 0.5,
            row + 0.5,
            shape,
            (height - 1 - row + column + 1) % 2 if style == "squares" else None,
        )
        for row, column in places
    )
    rows = tuple(tuple(range(row * width, (row + 1) * width)) for row in range(height))
    labels = [Label(letters[column], column + 0.5, height + 0.4) for column in range(width)]
    labels += [Label(str(row + 1 if is_top_first else height - row), -0.4, row + 0.5) for row in range(height)]
    dots = tuple((column + 0.5, row + 0.5) for row, column in stars)
    return Board(style, width, height, cells, rows, tuple(labels), _lines(height, width, style), dots)


def _lines(height: int, width: int, style: str) -> tuple[tuple[float, float, float, float], ...]:
    """Returns the lines through the points of a board, or between its cells."""
    if style == "points":
        across = [(0.5, row + 0.5, width - 0.5, row + 0.5) for row in range(height)]
        return (*across, *((column + 0.5, 0.5, column + 0.5, height - 0.5) for column in range(width)))
    if style == "lines":
        across = [(0.0, float(row), float(width), float(row)) for row in range(1, height)]
        return (*across, *((float(column), 0.0, float(column), float(height)) for column in range(1, width)))
    return ()


@functools.lru_cache(maxsize=64)
def hexagons(size: int) -> Board:
    """Returns a rhombus of hexagons: each row is half a cell to the right of the row above. Row 1 is at the top.

    The first player's edges are top and bottom, the second player's left and right.
    """
    down, last = 1.5 * _RADIUS, size - 1
    cells = tuple(
        Cell(
            cell_to_text(row, column, size, is_top_first=True),
            round(column + row / 2 + 0.5, 3),
            round(row * down + _RADIUS, 3),
            "hexagon",
        )
        for row in range(size)
        for column in range(size)
    )

    def corner(row: int, column: int, right: float, below: float) -> tuple[float, float]:
        cell = cells[row * size + column]
        return round(cell.x + right, 3), round(cell.y + below * _RADIUS, 3)

    line = range(size)
    top = [corner(0, 0, -0.5, -0.5), *(corner(0, k, *each) for k in line for each in ((0, -1), (0.5, -0.5)))]
    bottom = [corner(last, 0, -0.5, 0.5), *(corner(last, k, *each) for k in line for each in ((0, 1), (0.5, 0.5)))]
    left = [corner(k, 0, -0.5, each) for k in line for each in (-0.5, 0.5)]
    right = [corner(k, last, 0.5, each) for k in line for each in (-0.5, 0.5)]
    edges = tuple(Edge(player, tuple(each)) for player, each in ((0, top), (0, bottom), (1, left), (1, right)))
    rows = tuple(tuple(range(row * size, (row + 1) * size)) for row in range(size))
    labels = [Label(LETTERS[column], column + 0.5, -0.4) for column in range(size)]
    labels += [Label(str(row + 1), round(row / 2 - 0.5, 3), round(row * down + _RADIUS, 3)) for row in range(size)]
    width, height = size + last / 2, round(last * down + 2 * _RADIUS, 3)
    return Board("hexes", width, height, cells, rows, tuple(labels), edges=edges)


def pieces_from(characters: Sequence[str], kinds: Mapping[str, tuple[int | None, str]]) -> list[Piece]:
    """Returns the pieces of a board.

    Args:
      characters: [H * W] one per cell, by rows from the top left.
      kinds: the player and the kind of piece for each character. Other characters are empty cells.
    """
    return [Piece(cell, *kinds[each]) for cell, each in enumerate(characters) if each in kinds]


def star_points(height: int, width: int) -> tuple[tuple[int, int], ...]:
    """Returns row and column of the star points of a board of Go or Gomoku, from the top left.

    They are on the fourth lines from the edge, or on the third lines of boards below 13. Boards of 5 to 8 have the
    centre alone, smaller boards and boards of even size no centre.
    """
    rows, columns = _star_lines(height), _star_lines(width)
    middle = (height - 1) / 2, (width - 1) / 2
    is_large = min(height, width) >= 15
    return tuple(
        (row, column) for row in rows for column in columns if is_large or (row == middle[0]) == (column == middle[1])
    )


def _star_lines(length: int) -> list[int]:
    """Returns the lines with star points along a side."""
    edge = 3 if length >= 13 else 2
    middle = [length // 2] if length % 2 and length >= 5 else []
    return sorted({edge, length - 1 - edge, *middle}) if length >= 9 else middle
