"""Gomoku as text: how moves are written and read, and how the board is drawn."""

from azero.errors import BadInput
from azero.games.boards import cell_to_text, draw_board, split_cells, text_to_cell
from azero.games.pictures import BLACK, WHITE, Picture, pieces_from, squares, star_points
from azero.games.position_text import PLAYERS, board_to_text, cells_in_rows, put_stones, read_row_game


def action_to_text(game, state, action: int) -> str:
    return cell_to_text(action // game.columns, action % game.columns, game.rows)


def text_to_action(game, state, text: str) -> int:
    cell = text_to_cell(text, game.rows, game.columns)
    if cell is None:
        last = cell_to_text(0, game.columns - 1, game.rows)
        raise BadInput(f"{text!r} is not a move of gomoku; moves are a1 (bottom left) to {last}")
    return cell[0] * game.columns + cell[1]


def split_moves(game, text: str) -> list[str]:
    return split_cells(text)


def position_to_text(game, state) -> str:
    return board_to_text(_stones(game, state), game.columns, PLAYERS[state.ply & 1])


def text_to_position(game, state, text: str) -> None:
    cells, ply, is_won = read_row_game(text, game.rows, game.columns, game.k, game.exact)
    put_stones(game, state, cells)
    state.ply, state.is_won = ply, is_won


def draw(game, state, marks: dict[int, str]) -> str:
    return draw_board(_stones(game, state), game.columns, marks)


def winning_cells(game, state) -> list[int]:
    return cells_in_rows(_stones(game, state), game.columns, PLAYERS[1 - (state.ply & 1)], game.k, game.exact)


def _stones(game, state) -> list[str]:
    """Returns the stone on each cell, by rows from the top left."""
    lines = state.rows.tolist()

    def stone(row: int, column: int) -> str:
        return next((kind for k, kind in enumerate(PLAYERS) if lines[k][row] >> column & 1), ".")

    return [stone(row, column) for row in range(game.rows) for column in range(game.columns)]


def picture(game, state, legal: list[int], history: list[int]) -> Picture:
    return Picture(
        squares(game.rows, game.columns, "points", "point", stars=star_points(game.rows, game.columns)),
        (BLACK, WHITE),
        pieces_from(_stones(game, state), {"X": (0, "stone"), "O": (1, "stone")}),
        {action: (action,) for action in legal},
    )
