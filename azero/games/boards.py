"""Helpers for boards: the symmetries of a rectangle, the names of cells, and boards drawn as text."""

import re
from collections.abc import Sequence

import numpy as np

from azero.games.contract import Places

LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""The names of columns in most games."""

GO_LETTERS = "abcdefghjklmnopqrstuvwxyz"
"""The names of columns in Go, without i."""


def board_symmetries(height: int, width: int) -> np.ndarray:
    """Returns the symmetries of a height x width board as gathers of its cells, [S, H * W] int32, the identity first.

    A square has eight, a rectangle four. A board with a side of 1 has fewer, because equal gathers count once.
    """
    board = np.arange(height * width, dtype=np.int32).reshape(height, width)
    turns = range(4) if height == width else (0, 2)
    turned = [np.rot90(board, turn) for turn in turns]
    gathers = [each.ravel() for one in turned for each in (one, np.fliplr(one))]
    return np.stack(list({each.tobytes(): each for each in gathers}.values()))


def places_by_plane(height: int, width: int, planes: int = 1, slots: int = 0) -> Places:
    """Returns the places of actions that are numbered by planes, rows and columns, followed by the slots."""
    return Places(planes, slots, np.arange(planes * height * width + slots, dtype=np.int32))


def draw_grid(cells: Sequence[Sequence[str]], columns: Sequence[str], rows: Sequence[str]) -> str:
    """Returns a grid of short texts, with the names of its columns below and the names of its rows on the left."""
    width = max(len(text) for line in [*cells, columns] for text in line)
    margin = max((len(name) for name in rows), default=0)
    lines = [
        f"{name:>{margin}} " + " ".join(f"{text:>{width}}" for text in line)
        for name, line in zip(rows, cells, strict=True)
    ]
    lines.append(" " * margin + " " + " ".join(f"{name:>{width}}" for name in columns))
    return "\n".join(line.rstrip() for line in lines)


def cell_to_text(row: int, column: int, height: int, letters: str = LETTERS, is_top_first: bool = False) -> str:
    """Returns the name of a cell, e.g. `a1`.

    Args:
      row: counted from 0 at the top.
      column: counted from 0 at the left.
      is_top_first: whether row 1 is the top row in names. Otherwise it is the bottom row.
    """
    return f"{letters[column]}{row + 1 if is_top_first else height - row}"


def text_to_cell(
    text: str, height: int, width: int, letters: str = LETTERS, is_top_first: bool = False
) -> tuple[int, int] | None:
    """Returns the row, counted from 0 at the top, and the column of a cell's name; None if there is no such cell.

    Args:
      is_top_first: whether row 1 is the top row in names. Otherwise it is the bottom row.
    """
    match = re.fullmatch("([a-z])([1-9][0-9]?)", text.lower(), re.ASCII)
    if not match or match[1] not in letters[:width] or int(match[2]) > height:
        return None
    return int(match[2]) - 1 if is_top_first else height - int(match[2]), letters.index(match[1])


def draw_board(
    cells: Sequence[str], width: int, marks: dict[int, str], letters: str = LETTERS, is_top_first: bool = False
) -> str:
    """Returns a board as text, with the names of columns and rows.

    Args:
      cells: [H * W] the text of each cell, by rows from the top left.
      marks: cell to short text; replaces the cell's text.
      is_top_first: whether row 1 is the top row in names. Otherwise it is the bottom row.
    """
    texts = [marks.get(cell, text) for cell, text in enumerate(cells)]
    height = len(texts) // width
    names = [str(row + 1 if is_top_first else height - row) for row in range(height)]
    return draw_grid([texts[row * width : (row + 1) * width] for row in range(height)], letters[:width], names)


def step_symmetries(cells: np.ndarray, height: int, width: int, steps: Sequence[tuple[int, int]]) -> np.ndarray:
    """Returns the symmetries of actions that step from a cell, `step * H * W + cell`, as gathers.

    Args:
      cells: [S, H * W] int32, the symmetries of the board. Each must map the steps to one another.
      steps: rows down and columns right, of each step.

    Returns:
      [S, len(steps) * H * W] int32.
    """
    gathers = []
    for one in cells:
        row, column = np.divmod(one.reshape(height, width), width)
        down = row[1, 0] - row[0, 0], column[1, 0] - column[0, 0]  # the step that looks like one down
        right = row[0, 1] - row[0, 0], column[0, 1] - column[0, 0]
        true_steps = [(y * down[0] + x * right[0], y * down[1] + x * right[1]) for y, x in steps]
        gathers.append(np.concatenate([steps.index(step) * one.size + one for step in true_steps]))
    return np.stack(gathers).astype(np.int32)


def split_cells(text: str) -> list[str]:
    """Splits a record whose moves are cells or words, e.g. `f5d6 pass`."""
    return re.findall(r"[A-Za-z]\d+|[^\s,;\d]+|[^\s,;]+", text)
