"""Clobber as text: how moves are written and read, and how the board is drawn."""

import re

from azero.errors import BadInput
from azero.games.bitboard import ROWS, bit_of, has_stone
from azero.games.boards import cell_to_text, draw_board, text_to_cell
from azero.games.clobber.board import STEPS
from azero.games.pictures import BLACK, WHITE, Picture, pieces_from, squares
from azero.games.position_text import PLAYERS, board_to_text, read_player, text_to_board


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


def position_to_text(game, state) -> str:
    return board_to_text(_stones(game, state), game.columns, PLAYERS[state.ply & 1])


def text_to_position(game, state, text: str) -> None:
    cells, fields = text_to_board(text, game.rows, game.columns)
    ply = cells.count(".")  # each move removes a stone
    read_player(fields, ply & 1)
    wanted = (len(cells) + 1) // 2 - ply // 2, len(cells) // 2 - (ply + 1) // 2
    if (found := (cells.count("X"), cells.count("O"))) != wanted:
        rest = f"with {ply} stones taken it should have {wanted[0]} X and {wanted[1]} O"
        raise BadInput(f"it has {found[0]} X and {found[1]} O; {rest}")
    state.stones[:] = 0
    for cell, stone in enumerate(cells):
        row, column = divmod(cell, game.columns)
        if stone != ".":
            state.stones[PLAYERS.index(stone), row // ROWS] |= bit_of(row, column)
    state.ply = ply


def draw(game, state, marks: dict[int, str]) -> str:
    by_cell = {action % (game.rows * game.columns): mark for action, mark in reversed(marks.items())}
    return draw_board(_stones(game, state), game.columns, by_cell)


def _stones(game, state) -> list[str]:
    """Returns the stone on each cell, by rows from the top left."""

    def stone(row: int, column: int) -> str:
        return next((kind for k, kind in enumerate(PLAYERS) if has_stone(state, k, row, column)), ".")

    return [stone(row, column) for row in range(game.rows) for column in range(game.columns)]


def picture(game, state, legal: list[int], history: list[int]) -> Picture:
    clicks = {}
    for action in legal:
        direction, cell = divmod(action, game.rows * game.columns)
        down, right = STEPS[direction]
        clicks[action] = cell, cell + down * game.columns + right
    return Picture(
        squares(game.rows, game.columns),
        (WHITE, BLACK),
        pieces_from(_stones(game, state), {"X": (0, "stone"), "O": (1, "stone")}),
        clicks,
        steps=("Stone", "Takes"),
    )
