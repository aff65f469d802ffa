"""Othello as text: how moves are written and read, and how the board is drawn."""

import numpy as np

from azero.errors import BadInput
from azero.games.boards import cell_to_text, draw_board, split_cells, text_to_cell


def action_to_text(game, state, action: int) -> str:
    if action == game.size**2:
        return "pass"
    return cell_to_text(action // game.size, action % game.size, game.size, is_top_first=True)


def text_to_action(game, state, text: str) -> int:
    if text.lower() == "pass":
        return game.size**2
    cell = text_to_cell(text, game.size, game.size, is_top_first=True)
    if cell is None:
        last = cell_to_text(game.size - 1, game.size - 1, game.size, is_top_first=True)
        raise BadInput(f"{text!r} is not a move of othello; moves are a1 (top left) to {last}, and pass")
    return cell[0] * game.size + cell[1]


def split_moves(game, text: str) -> list[str]:
    return split_cells(text)


def draw(game, state, marks: dict[int, str]) -> str:
    planes = np.zeros(game.planes_shape, np.float32)
    game.encode(state, planes)
    kinds = ".XO" if state.ply % 2 == 0 else ".OX"
    stones = (planes[0] + 2 * planes[1]).astype(int).ravel()
    return draw_board([kinds[stone] for stone in stones], game.size, marks, is_top_first=True)
