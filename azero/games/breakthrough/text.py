"""Breakthrough as text: how moves are written and read, and how the board is drawn."""

import re

from azero.errors import BadInput
from azero.games.bitboard import ROWS, bit_of, has_stone
from azero.games.boards import cell_to_text, draw_board, text_to_cell
from azero.games.breakthrough.board import STEPS
from azero.games.pictures import BLACK, WHITE, Picture, pieces_from, squares
from azero.games.position_text import PLAYERS, board_to_text, read_player, text_to_board


def action_to_text(game, state, action: int) -> str:
    step, cell = divmod(action, game.rows * game.columns)
    seen_row, column = divmod(cell, game.columns)
    is_second = bool(state.ply & 1)
    start = cell_to_text(seen_row, column, game.rows, is_top_first=is_second)
    end = cell_to_text(seen_row - 1, column + step - 1, game.rows, is_top_first=is_second)
    row = seen_row - 1 if is_second else game.rows - seen_row
    is_taking = has_stone(state, 1 - is_second, row, column + step - 1)
    return f"{start}{'x' if is_taking else '-'}{end}"


def text_to_action(game, state, text: str) -> int:
    match = re.fullmatch(r"([a-z]\d+)[-x]?([a-z]\d+)", text.lower(), re.ASCII)
    is_second = bool(state.ply & 1)
    start, end = (
        (text_to_cell(part, game.rows, game.columns, is_top_first=is_second) for part in match.groups())
        if match
        else (None, None)
    )
    step = (end[0] - start[0], end[1] - start[1]) if start and end else None
    if start is None or step not in STEPS:
        raise BadInput(f"{text!r} is not a move of breakthrough here; moves go forward, e.g. a2-a3, b4xa3")
    return (STEPS.index(step) * game.rows + start[0]) * game.columns + start[1]


def split_moves(game, text: str) -> list[str]:
    return re.findall(r"[A-Za-z]\d+[-x]?[A-Za-z]\d+|[^\s,;]+", text)


def position_to_text(game, state) -> str:
    return board_to_text(_stones(game, state), game.columns, PLAYERS[state.ply & 1])


def text_to_position(game, state, text: str) -> None:
    cells, fields = text_to_board(text, game.rows, game.columns)
    player = read_player(fields)
    most = game.columns * (2 if game.rows >= 6 else 1)
    homes = cells[-game.columns :], cells[: game.columns]  # the last row of one player is the first of the other
    for k, stone in enumerate(PLAYERS):
        if cells.count(stone) > most:
            raise BadInput(f"it has {cells.count(stone)} {stone}; each player begins with {most}")
    mover, last = PLAYERS[player], PLAYERS[1 - player]
    if mover in homes[1 - player] or last not in cells:
        raise BadInput(f"{mover} has won already, so {last} could not have moved")
    for half in range(2):
        state.stones[:, half] = 0
    for cell, stone in enumerate(cells):
        row, column = game.rows - 1 - cell // game.columns, cell % game.columns
        if stone != ".":
            state.stones[PLAYERS.index(stone), row // ROWS] |= bit_of(row, column)
    state.ply, state.is_won = player, last in homes[player] or mover not in cells


def draw(game, state, marks: dict[int, str]) -> str:
    """Draws the first player's home row at the bottom."""
    by_cell = {}
    for action, mark in reversed(marks.items()):
        seen_row, column = divmod(action % (game.rows * game.columns), game.columns)
        row_from_top = game.rows - 1 - seen_row if state.ply & 1 else seen_row
        by_cell[row_from_top * game.columns + column] = mark
    return draw_board(_stones(game, state), game.columns, by_cell)


def _stones(game, state) -> list[str]:
    """Returns the stone on each cell, by rows from the top left."""

    def stone(row: int, column: int) -> str:
        return next((kind for k, kind in enumerate(PLAYERS) if has_stone(state, k, row, column)), ".")

    return [stone(row, column) for row in reversed(range(game.rows)) for column in range(game.columns)]


def picture(game, state, legal: list[int], history: list[int]) -> Picture:
    return Picture(
        squares(game.rows, game.columns),
        (BLACK, WHITE),
        pieces_from(_stones(game, state), {"X": (0, "pawn"), "O": (1, "pawn")}),
        {action: _from_and_to(game, bool(state.ply & 1), action) for action in legal},
        steps=("Pawn", "Goes to"),
    )


def _from_and_to(game, is_second: bool, action: int) -> tuple[int, int]:
    """Returns the cells that a stone leaves and enters, by rows from the top left."""
    step, cell = divmod(action, game.rows * game.columns)
    seen_row, column = divmod(cell, game.columns)
    row, forward = (game.rows - 1 - seen_row, 1) if is_second else (seen_row, -1)
    return row * game.columns + column, (row + forward) * game.columns + column + step - 1
