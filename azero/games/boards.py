"""What boards have in common: the symmetries of a rectangle, and a grid drawn in text."""

from collections.abc import Sequence

import numpy as np


def board_symmetries(height: int, width: int) -> np.ndarray:
    """Returns the symmetries of a height x width board as gathers of its cells, [S, H * W] int32, the identity first.

    A square has eight, a rectangle four.
    """
    board = np.arange(height * width, dtype=np.int32).reshape(height, width)
    turns = range(4) if height == width else (0, 2)
    turned = [np.rot90(board, turn) for turn in turns]
    return np.stack([each.ravel() for one in turned for each in (one, np.fliplr(one))])


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
