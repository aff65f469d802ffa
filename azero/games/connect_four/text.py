"""Connect Four as text: how moves are written and read, and how the board is drawn."""

import re

from azero.compiler.bits import has_bit
from azero.errors import BadInput
from azero.games.boards import draw_grid


def action_to_text(game, state, action: int) -> str:
    return str(action + 1)


def text_to_action(game, state, text: str) -> int:
    if not (re.fullmatch("[1-8]", text) and int(text) <= game.columns):
        raise BadInput(f"{text!r} is not a move of connect_four; moves are columns 1 to {game.columns}")
    return int(text) - 1


def split_moves(game, text: str) -> list[str]:
    return re.findall(r"\d|[^\s,;\d]+", text)


def draw(game, state, marks: dict[int, str]) -> str:
    def stone(row: int, column: int) -> str:
        cell = 8 * column + row
        return "X" if has_bit(state.stones[0], cell) else "O" if has_bit(state.stones[1], cell) else "."

    board = [[stone(row, column) for column in range(game.columns)] for row in reversed(range(game.rows))]
    names = [str(column + 1) for column in range(game.columns)]
    if not marks:
        return draw_grid(board, columns=names, rows=[""] * game.rows)
    values = [marks.get(column, "") for column in range(game.columns)]
    return draw_grid([values, *board], columns=names, rows=[""] * (game.rows + 1))
