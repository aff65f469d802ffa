"""Amazons as text: how moves are written and read, and how the board is drawn."""

import re

import numpy as np

from azero.errors import BadInput
from azero.games.boards import cell_to_text, draw_board, text_to_cell


def action_to_text(game, state, action: int) -> str:
    phase, cell = divmod(action, game.rows * game.columns)
    return ("", "-", "/")[phase] + cell_to_text(cell // game.columns, cell % game.columns, game.rows)


def text_to_action(game, state, text: str) -> int:
    mark = ("", "-", "/")[int(state.phase)]
    cell = text_to_cell(text.removeprefix(mark), game.rows, game.columns)
    if cell is None:
        kind = ("an amazon's cell, e.g. d1", "her new cell, e.g. -d7", "the arrow's cell, e.g. /g7")[int(state.phase)]
        raise BadInput(f"{text!r} is not a move of amazons here; the next action is {kind}")
    return (int(state.phase) * game.rows + cell[0]) * game.columns + cell[1]


def split_moves(game, text: str) -> list[str]:
    return re.findall(r"[-/]?[A-Za-z]\d+|[^\s,;]+", text)


def draw(game, state, marks: dict[int, str]) -> str:
    planes = np.zeros(game.planes_shape, np.float32)
    game.encode(state, planes)
    kinds = "XO" if state.player == 0 else "OX"
    stones = [
        kinds[0] if own else kinds[1] if theirs else "#" if arrow else "."
        for own, theirs, arrow in planes[:3].reshape(3, -1).T
    ]
    return draw_board(stones, game.columns, {action % len(stones): mark for action, mark in marks.items()})
