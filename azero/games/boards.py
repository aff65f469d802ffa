"""What boards have in common: the symmetries of a rectangle, and a grid drawn in text."""

import re
from collections.abc import Sequence

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
"""Columns as most games name them."""

GO_LETTERS = "abcdefghjklmnopqrstuvwxyz"
"""Columns as Go names them: without the i."""


def board_symmetries(height: int, width: int) -> np.ndarray:
    """Returns the symmetries of a height x width board as gathers of its cells, [S, H * W] int32, the identity first.

    A square has eight, a rectangle four; fewer where a side is 1, for each stands once.
    """
    board = np.arange(height * width, dtype=np.int32).reshape(height, width)
    turns = range(4) if height == width else (0, 2)
    turned = [np.rot90(board, turn) for turn in turns]
    gathers = [each.ravel() for one in turned for each in (one, np.fliplr(one))]
    return np.stack(list({each.tobytes(): each for each in gathers}.values()))


def draw_grid(cells: Sequence[Sequence[str]], columns: Sequence[str], rows: Sequence[str]) -> str:
    """Returns a grid of short texts with the names of its columns below and of its rows on the left."""
    width = max(len(text) for line in [*cells, columns] for text in line)
    margin = max((len(name) for name in rows), default=0)
    lines = [
        f"{name:>{margin}} " + " ".join(f"{text:>{width}}" for text in line)
        for name, line in zip(rows, cells, strict=True)
    ]
    lines.append(" " * margin + " " + " ".join(f"{name:>{width}}" for name in columns))
    return "\n".join(line.rstrip() for line in lines)


def cell_to_text(row: int, column: int, height: int, letters: str = LETTERS, is_top_first: bool = False) -> str:
    """Returns the name of a cell, e.g. `a1`: rows, given from the top, are named from the bottom unless top first."""
    return f"{letters[column]}{row + 1 if is_top_first else height - row}"


def text_to_cell(
    text: str, height: int, width: int, letters: str = LETTERS, is_top_first: bool = False
) -> tuple[int, int] | None:
    """Returns the row, from the top, and the column of a named cell; None where the board has no such cell."""
    match = re.fullmatch("([a-z])([1-9][0-9]?)", text.lower(), re.ASCII)
    if not match or match[1] not in letters[:width] or int(match[2]) > height:
        return None
    return int(match[2]) - 1 if is_top_first else height - int(match[2]), letters.index(match[1])


def draw_board(
    cells: Sequence[str], width: int, marks: dict[int, str], letters: str = LETTERS, is_top_first: bool = False
) -> str:
    """Returns a board, given cell by cell from the top left, with `marks` by cell in place of what stands there."""
    texts = [marks.get(cell, text) for cell, text in enumerate(cells)]
    height = len(texts) // width
    names = [str(row + 1 if is_top_first else height - row) for row in range(height)]
    return draw_grid([texts[row * width : (row + 1) * width] for row in range(height)], letters[:width], names)


def step_symmetries(cells: np.ndarray, height: int, width: int, steps: Sequence[tuple[int, int]]) -> np.ndarray:
    """Returns the gathers, [S, len(steps) * H * W], of actions `step * H * W + cell`, for steps (down, right)."""
    gathers = []
    for one in cells:
        row, column = np.divmod(one.reshape(height, width), width)
        down = row[1, 0] - row[0, 0], column[1, 0] - column[0, 0]  # the true step that is seen as one down
        right = row[0, 1] - row[0, 0], column[0, 1] - column[0, 0]
        true_steps = [(y * down[0] + x * right[0], y * down[1] + x * right[1]) for y, x in steps]
        gathers.append(np.concatenate([steps.index(step) * one.size + one for step in true_steps]))
    return np.stack(gathers).astype(np.int32)


def split_cells(text: str) -> list[str]:
    """Splits a record of moves that are single cells or words, e.g. `f5d6 pass`."""
    return re.findall(r"[A-Za-z]\d+|[^\s,;\d]+|[^\s,;]+", text)
