"""Connect Four as text: how moves are written and read, and how the board is drawn."""

import dataclasses
import functools
import re

from azero.compiler.bits import bit, has_bit
from azero.errors import BadInput
from azero.games.boards import draw_grid
from azero.games.pictures import RED, YELLOW, Board, Label, Picture, pieces_from, squares
from azero.games.position_text import PLAYERS, board_to_text, cells_in_rows, read_row_game


def action_to_text(game, state, action: int) -> str:
    return str(action + 1)


def text_to_action(game, state, text: str) -> int:
    if not (re.fullmatch("[1-8]", text) and int(text) <= game.columns):
        raise BadInput(f"{text!r} is not a move of connect_four; moves are columns 1 to {game.columns}")
    return int(text) - 1


def split_moves(game, text: str) -> list[str]:
    return re.findall(r"\d|[^\s,;\d]+", text)


def position_to_text(game, state) -> str:
    return board_to_text(_stones(game, state), game.columns, PLAYERS[state.ply & 1])


def text_to_position(game, state, text: str) -> None:
    cells, state.ply, state.has_line = read_row_game(text, game.rows, game.columns, 4)
    for cell, stone in enumerate(cells):
        row, column = divmod(cell, game.columns)
        if stone != "." and cells[cell + game.columns : cell + game.columns + 1] == ".":
            raise BadInput(
                f"the {stone} in column {column + 1}, row {row + 1} from the top, has an empty cell below it"
            )
        if stone != ".":
            state.stones[PLAYERS.index(stone)] |= bit(8 * column + game.rows - 1 - row)


def draw(game, state, marks: dict[int, str]) -> str:
    board = _board(game, state)
    names = [str(column + 1) for column in range(game.columns)]
    if not marks:
        return draw_grid(board, columns=names, rows=[""] * game.rows)
    values = [marks.get(column, "") for column in range(game.columns)]
    return draw_grid([values, *board], columns=names, rows=[""] * (game.rows + 1))


def winning_cells(game, state) -> list[int]:
    return cells_in_rows(_stones(game, state), game.columns, PLAYERS[1 - (state.ply & 1)], 4)


def _stones(game, state) -> list[str]:
    """Returns the stone on each cell, by rows from the top left."""
    return [stone for row in _board(game, state) for stone in row]


def _board(game, state) -> list[list[str]]:
    """Returns the stone on each cell, by rows, the top row first."""

    def stone(row: int, column: int) -> str:
        cell = 8 * column + row
        return "X" if has_bit(state.stones[0], cell) else "O" if has_bit(state.stones[1], cell) else "."

    return [[stone(row, column) for column in range(game.columns)] for row in reversed(range(game.rows))]


def picture(game, state, legal: list[int], history: list[int]) -> Picture:
    """Returns a board whose cells are named by column and row, e.g. `4, row 1` at the bottom."""
    stones, columns = _stones(game, state), game.columns
    drops = [[row * columns + column for row in reversed(range(game.rows))] for column in range(columns)]
    return Picture(
        _holes(game.rows, columns),
        (RED, YELLOW),
        pieces_from(stones, {"X": (0, "disc"), "O": (1, "disc")}),
        {column: (next(cell for cell in drops[column] if stones[cell] == "."),) for column in legal},
        drops=drops,
    )


@functools.cache
def _holes(rows: int, columns: int) -> Board:
    board = squares(rows, columns, "holes", "hole")
    cells = [
        cell._replace(name=f"{number % columns + 1}, row {rows - number // columns}")
        for number, cell in enumerate(board.cells)
    ]
    labels = [Label(str(column + 1), column + 0.5, rows + 0.4) for column in range(columns)]
    return dataclasses.replace(board, cells=cells, labels=labels)
