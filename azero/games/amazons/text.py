"""Amazons as text: how moves are written and read, and how the board is drawn."""

import re

import numpy as np

from azero.compiler.bits import has_bit
from azero.compiler.jit import kernel
from azero.compiler.plain import call
from azero.errors import BadInput
from azero.games.amazons.board import FROM, SHOT, TO, can_move, is_blocked, toggle, word_of
from azero.games.boards import cell_to_text, draw_board, text_to_cell
from azero.games.pictures import BLACK, WHITE, Picture, pieces_from, squares
from azero.games.position_text import PLAYERS, board_to_text, read_player, text_to_board


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


def position_to_text(game, state) -> str:
    """Returns the board, the player to move, and in the middle of a move the moving amazon: `d1-` or `d7/`."""
    player, fields = int(state.player), []
    if state.phase != FROM:
        row, column = state.amazons[player, state.moved]
        mark = "-" if state.phase == TO else "/"
        fields.append(cell_to_text(row - 1, column - 1, game.rows) + mark)
    return board_to_text(_pieces(game, state), game.columns, PLAYERS[player], *fields)


def text_to_position(game, state, text: str) -> None:
    cells, fields = text_to_board(text, game.rows, game.columns, f"{PLAYERS}#")
    num_arrows = cells.count("#")  # each move shoots one
    player = read_player(fields[:1], num_arrows & 1)
    if any(cells.count(amazon) != 4 for amazon in PLAYERS):
        raise BadInput(f"it has {cells.count('X')} X and {cells.count('O')} O; each player has 4 amazons")
    places = np.array([divmod(cell, game.columns) for kind in f"{PLAYERS}#" for cell in _places_of(cells, kind)]) + 1
    moved = -1
    phase = FROM
    if fields[1:]:
        moved, phase = _read_moving(game, cells, player, fields[1:])
    is_able = call(_set_up, state, places, num_arrows & 1, moved, phase)
    if not is_able:
        raise BadInput(f"the amazon at {fields[1][:-1]} cannot move")
    state.ply = 3 * num_arrows + phase


def _places_of(cells: str, kind: str) -> list[int]:
    return [cell for cell, each in enumerate(cells) if each == kind]


def _read_moving(game, cells: str, player: int, fields: list[str]) -> tuple[int, int]:
    """Returns the number of the moving amazon among her player's, and the phase."""
    match = re.fullmatch("([a-z][0-9]{1,2})([-/])", fields[0]) if len(fields) == 1 else None
    place = text_to_cell(match[1], game.rows, game.columns) if match else None
    cell = place[0] * game.columns + place[1] if place else -1
    if match is None or cell not in _places_of(cells, PLAYERS[player]):
        one = f"an amazon of {PLAYERS[player]}"
        raise BadInput(f"{' '.join(fields)!r} should be {one} that moves, e.g. d1-, or has moved and shoots, e.g. d7/")
    return _places_of(cells, PLAYERS[player]).index(cell), TO if match[2] == "-" else SHOT


@kernel
def _set_up(state, places, player, moved, phase):
    """Sets the initial position of a board to another one; returns whether the moving amazon, if any, can move.

    Args:
      places: [8 + arrows, 2] int64, row and column of the amazons of each player, then of the arrows.
      moved: index of the moving amazon among those of `player`, -1 if there is none.
    """
    for k in range(8):
        old = state.amazons[k // 4, k % 4]
        row, column = np.int64(old[0]), np.int64(old[1])
        toggle(state, row, column)
        state.key ^= word_of(k // 4, row, column)
    for k in range(len(places)):
        row, column = places[k, 0], places[k, 1]
        toggle(state, row, column)
        state.key ^= word_of(min(k // 4, 2), row, column)
        if k < 8:
            state.amazons[k // 4, k % 4, 0] = row
            state.amazons[k // 4, k % 4, 1] = column
    state.player = player
    state.phase = phase
    if phase == FROM:
        state.is_over = is_blocked(state, player)
        return True
    state.moved = moved
    row, column = places[4 * player + moved, 0], places[4 * player + moved, 1]
    toggle(state, row, column)
    return can_move(state, row, column)


def draw(game, state, marks: dict[int, str]) -> str:
    cells = game.rows * game.columns
    return draw_board(_pieces(game, state), game.columns, {action % cells: mark for action, mark in marks.items()})


def _pieces(game, state) -> list[str]:
    """Returns the amazon or arrow on each cell, by rows from the top left."""
    cells = [
        ".#"[has_bit(state.rows[row + 1], column + 1)] for row in range(game.rows) for column in range(game.columns)
    ]
    for player in range(2):
        for row, column in state.amazons[player]:
            cells[(row - 1) * game.columns + column - 1] = PLAYERS[player]
    return cells


def picture(game, state, legal: list[int], history: list[int]) -> Picture:
    """Returns a picture in which each action is one cell. `step` and `begun` tell what the turn is so far."""
    cells, phase = game.rows * game.columns, int(state.phase)
    begun = [action % cells for action in history[len(history) - phase :]] if len(history) >= phase else []
    if phase and not begun:
        row, column = state.amazons[int(state.player), int(state.moved)]
        begun = [int((row - 1) * game.columns + column - 1)] * phase
    return Picture(
        squares(game.rows, game.columns),
        (BLACK, WHITE),
        pieces_from(_pieces(game, state), {"X": (0, "queen"), "O": (1, "queen"), "#": (None, "blocked")}),
        {action: (action % cells,) for action in legal},
        steps=("Amazon", "Goes to", "Shoots at"),
        step=phase,
        begun=begun,
    )
