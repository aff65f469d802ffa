"""NewGame: players place stones in turn; four in a row win."""

from typing import NamedTuple

import numpy as np

from azero.authoring import (
    DRAW,
    LOSS,
    ONGOING,
    WIN,
    Symmetries,
    board_symmetries,
    cell_to_text,
    draw_board,
    mix,
    places_by_plane,
    subroutine,
)

EMPTY = 0  # the stones are 1, the first player's, and 2


@subroutine
def length_through(game, state, row, column, down, right):
    """Returns how many stones in a line through a stone are of its colour."""
    stone, length = state.cells[row, column], 1
    for sign in (-1, 1):
        y, x = row + sign * down, column + sign * right
        while 0 <= y < game.size and 0 <= x < game.size and state.cells[y, x] == stone:
            length += 1
            y += sign * down
            x += sign * right
    return length


class NewGame(NamedTuple):
    """Players place stones in turn. Four in a row win; a full board is a draw."""

    size: int = 5

    def reset(game, state):
        for row in range(game.size):
            for column in range(game.size):
                state.cells[row, column] = EMPTY
        state.ply = 0
        state.is_won = 0

    def legal_actions(game, state, out):
        count = 0
        for action in range(game.size * game.size):
            if state.cells[action // game.size, action % game.size] == EMPTY:
                out[count] = action
                count += 1
        return count

    def apply_action(game, state, action):
        row, column = action // game.size, action % game.size
        state.cells[row, column] = 1 + state.ply % 2
        state.ply += 1
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            if length_through(game, state, row, column, down, right) >= 4:
                state.is_won = 1

    def current_player(game, state):
        return state.ply % 2

    def outcome(game, state):
        if state.is_won:
            return WIN if state.ply % 2 == 1 else LOSS  # the last move was the winner's
        return DRAW if state.ply == game.size * game.size else ONGOING

    def encode(game, state, planes):
        """Planes: own stones, the opponent's."""
        own = 1 + state.ply % 2
        for row in range(game.size):
            for column in range(game.size):
                stone = state.cells[row, column]
                planes[0, row, column] = stone == own
                planes[1, row, column] = stone == 3 - own

    def hash_key(game, state):
        """The stones decide everything: their number is the ply, and a finished game has a row of four."""
        key = np.uint64(0)
        for row in range(game.size):
            for column in range(game.size):
                key = mix(key ^ np.uint64(state.cells[row, column]))
        return key

    def ranges(game):
        return {"size": (4, 9)}

    @property
    def state_dtype(game):
        return np.dtype(
            [
                ("cells", np.int8, (game.size, game.size)),
                ("ply", np.int32),
                ("is_won", np.int32),
            ],
            align=True,
        )

    @property
    def num_actions(game):
        return game.size**2

    @property
    def max_plies(game):
        return game.size**2

    @property
    def planes_shape(game):
        return (2, game.size, game.size)

    # What follows is optional: it helps nets to learn, and people to read.

    def symmetries(game):
        cells = board_symmetries(game.size, game.size)
        return Symmetries(cells, cells)

    def target(game, state, action):
        return action

    def places(game):
        return places_by_plane(game.size, game.size)

    def action_to_text(game, state, action):
        return cell_to_text(action // game.size, action % game.size, game.size)

    def draw(game, state, marks):
        return draw_board([".XO"[stone] for stone in state.cells.ravel()], game.size, marks)
