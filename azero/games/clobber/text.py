"""Clobber as text: how moves are written and read, and how the board is drawn."""

import re

import numpy as np

from azero.errors import BadInput
from azero.games.boards import cell_to_text, draw_board, text_to_cell
from azero.games.clobber.board import STEPS


def action_to_text(game, state, action: int) -> str:
    direction, cell = divmod(action, game.rows * game.columns)
    row, column = divmod(cell, game.columns)
    down, right = STEPS[direction]
    return cell_to_text(row, column, game.rows) + cell_to_text(row + down, column + right, game.rows)


def text_to_action(game, state, text: str) -> int:
    match = re.fullmatch(r"([a-z]\d+)-?([a-z]\d+)", text.lower(), re.ASCII)
    start, end = (text_to_cell(part, game.rows, game.columns) for part in match.groups()) if match else (None, None)
    step = (end[0] - start[0], end[1] - start[1]) if start and end else None
    if start is None or step not in STEPS:
        raise BadInput(f"{text!r} is not a move of clobber; moves go from a cell to a neighbour, e.g. a1a2")
    return (STEPS.index(step) * game.rows + start[0]) * game.columns + start[1]


def split_moves(game, text: str) -> list[str]:
    return re.findall(r"[A-Za-z]\d+-?[A-Za-z]\d+|[^\s,;]+", text)


def draw(game, state, marks: dict[int, str]) -> str:
    planes = np.zeros(game.planes_shape, np.float32)
    game.encode(state, planes)
    kinds = ".XO" if state.ply % 2 == 0 else ".OX"
    stones = (planes[0] + 2 * planes[1]).astype(int).ravel()
    by_cell = {action % stones.size: mark for action, mark in reversed(marks.items())}
    return draw_board([kinds[stone] for stone in stones], game.columns, by_cell)
