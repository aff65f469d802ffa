"""NewGame: stones spread over the board and turn their neighbours; who has more in the end wins."""

from typing import NamedTuple

import numpy as np

from azero.authoring import (
    DRAW,
    LOSS,
    ONGOING,
    WIN,
    Places,
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
def can_place(game, state, stone, row, column):
    """Returns whether a cell is empty and has a neighbour of this colour."""
    if state.cells[row, column] != EMPTY:
        return False
    for y in range(max(row - 1, 0), min(row + 2, game.size)):
        for x in range(max(column - 1, 0), min(column + 2, game.size)):
            if state.cells[y, x] == stone:
                return True
    return False


@subroutine
def can_move(game, state, stone):
    """Returns whether a player can place a stone anywhere."""
    for row in range(game.size):
        for column in range(game.size):
            if can_place(game, state, stone, row, column):
                return True
    return False


class NewGame(NamedTuple):
    """Place a stone beside one of yours: all neighbours become yours. When nobody can place, the majority wins.

    A player who cannot place a stone passes. Action size * size is the pass.
    """

    size: int = 5

    def reset(game, state):
        for row in range(game.size):
            for column in range(game.size):
                state.cells[row, column] = EMPTY
        last = game.size - 1
        state.cells[0, 0] = state.cells[last, last] = 1
        state.cells[0, last] = state.cells[last, 0] = 2
        state.player = 0

    def legal_actions(game, state, out):
        count = 0
        for action in range(game.size * game.size):
            if can_place(game, state, 1 + state.player, action // game.size, action % game.size):
                out[count] = action
                count += 1
        if count == 0:
            out[0] = game.size * game.size
            count = 1
        return count

    def apply_action(game, state, action):
        own = 1 + state.player
        if action < game.size * game.size:
            row, column = action // game.size, action % game.size
            state.cells[row, column] = own
            for y in range(max(row - 1, 0), min(row + 2, game.size)):
                for x in range(max(column - 1, 0), min(column + 2, game.size)):
                    if state.cells[y, x] == 3 - own:
                        state.cells[y, x] = own
        state.player = 1 - state.player

    def current_player(game, state):
        return state.player

    def final_score(game, state):
        """Returns the first player's stones minus the second player's."""
        score = 0
        for row in range(game.size):
            for column in range(game.size):
                stone = state.cells[row, column]
                score += int(stone == 1) - int(stone == 2)
        return score

    def outcome(game, state):
        if can_move(game, state, 1) or can_move(game, state, 2):
            return ONGOING
        score = game.final_score(state)
        if score == 0:
            return DRAW
        return WIN if score > 0 else LOSS

    def encode(game, state, planes):
        """Planes: own stones, the opponent's."""
        own = 1 + state.player
        for row in range(game.size):
            for column in range(game.size):
                stone = state.cells[row, column]
                planes[0, row, column] = stone == own
                planes[1, row, column] = stone == 3 - own

    def hash_key(game, state):
        key = np.uint64(state.player)
        for row in range(game.size):
            for column in range(game.size):
                key = mix(key ^ np.uint64(state.cells[row, column]))
        return key

    def ranges(game):
        return {"size": (3, 9)}

    @property
    def state_dtype(game):
        return np.dtype(
            [
                ("cells", np.int8, (game.size, game.size)),
                ("player", np.int32),
            ],
            align=True,
        )

    @property
    def num_actions(game):
        return game.size**2 + 1

    @property
    def max_plies(game):
        return 2 * game.size**2

    @property
    def planes_shape(game):
        return (2, game.size, game.size)

    # What follows is optional: it helps nets to learn, and people to read.

    def symmetries(game):
        """Those turns and reflections that leave X in its two corners. The pass stays the pass."""
        cells = board_symmetries(game.size, game.size)
        cells = cells[np.isin(cells[:, 0], [0, game.size**2 - 1])]
        passes = np.full((len(cells), 1), game.size**2, np.int32)
        return Symmetries(cells, np.concatenate([cells, passes], axis=1))

    def ownership(game, state, owners):
        for row in range(game.size):
            for column in range(game.size):
                stone = state.cells[row, column]
                owners[row, column] = int(stone == 1) - int(stone == 2)

    def places(game) -> Places:
        return places_by_plane(game.size, game.size, slots=1)

    def action_to_text(game, state, action):
        return "pass" if action == game.size**2 else cell_to_text(action // game.size, action % game.size, game.size)

    def draw(game, state, marks):
        return draw_board([".XO"[stone] for stone in state.cells.ravel()], game.size, marks)
