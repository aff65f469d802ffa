"""NewGame: each player has one piece, which leaves holes behind; who cannot move has lost."""

from typing import NamedTuple

import numpy as np

from azero.authoring import (
    LOSS,
    ONGOING,
    WIN,
    Picture,
    Player,
    Symmetries,
    board_symmetries,
    cell_to_text,
    draw_board,
    mix,
    pieces_from,
    places_by_plane,
    squares,
    step_symmetries,
    subroutine,
)

STEPS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))  # rows down, columns right


@subroutine
def is_free(game, state, row, column):
    """Returns whether a cell is on the board, has no hole, and no piece stands on it."""
    if not (0 <= row < game.size and 0 <= column < game.size) or state.holes[row, column]:
        return False
    cell = row * game.size + column
    return state.pieces[0] != cell and state.pieces[1] != cell


@subroutine
def can_step(game, state, step):
    """Returns whether the piece of the player to move can make a step."""
    cell = state.pieces[state.ply % 2]
    down, right = STEPS[step]
    return is_free(game, state, cell // game.size + down, cell % game.size + right)


class NewGame(NamedTuple):
    """Move your piece to a neighbouring cell; the one it leaves becomes a hole. Who cannot move has lost.

    An action is `step * cells + cell`: one of eight steps, and the cell that the piece leaves.
    """

    size: int = 5

    def reset(game, state):
        for row in range(game.size):
            for column in range(game.size):
                state.holes[row, column] = 0
        state.pieces[0] = (game.size - 1) * game.size + game.size // 2
        state.pieces[1] = game.size // 2
        state.ply = 0

    def legal_actions(game, state, out):
        count = 0
        for step in range(8):
            if can_step(game, state, step):
                out[count] = step * game.size * game.size + state.pieces[state.ply % 2]
                count += 1
        return count

    def apply_action(game, state, action):
        cell = action % (game.size * game.size)
        state.holes[cell // game.size, cell % game.size] = 1
        state.pieces[state.ply % 2] = game.target(state, action)
        state.ply += 1

    def target(game, state, action):
        """Returns the cell that the piece enters."""
        down, right = STEPS[action // (game.size * game.size)]
        return action % (game.size * game.size) + down * game.size + right

    def current_player(game, state):
        return state.ply % 2

    def outcome(game, state):
        for step in range(8):
            if can_step(game, state, step):
                return ONGOING
        return LOSS if state.ply % 2 == 0 else WIN

    def encode(game, state, planes):
        """Planes: the own piece, the opponent's, holes."""
        own, other = state.pieces[state.ply % 2], state.pieces[1 - state.ply % 2]
        for row in range(game.size):
            for column in range(game.size):
                cell = row * game.size + column
                planes[0, row, column] = cell == own
                planes[1, row, column] = cell == other
                planes[2, row, column] = state.holes[row, column]

    def hash_key(game, state):
        """The number of holes is the ply, so it needs no part of its own."""
        key = mix(np.uint64(state.pieces[0] * game.size * game.size + state.pieces[1]))
        for row in range(game.size):
            for column in range(game.size):
                key = mix(key ^ np.uint64(state.holes[row, column]))
        return key

    def ranges(game):
        return {"size": (3, 9)}

    @property
    def state_dtype(game):
        return np.dtype(
            [("holes", np.int8, (game.size, game.size)), ("pieces", np.int32, 2), ("ply", np.int32)], align=True
        )

    @property
    def num_actions(game):
        return 8 * game.size**2

    @property
    def max_plies(game):
        return game.size**2

    @property
    def planes_shape(game):
        return (3, game.size, game.size)

    # What follows is optional: it helps nets to learn, and people to read.

    def symmetries(game):
        """Those turns and reflections that keep the initial position: on odd sizes left and right can be exchanged."""
        cells = board_symmetries(game.size, game.size)
        cells = cells[cells[:, game.size // 2] == game.size // 2]
        return Symmetries(cells, step_symmetries(cells, game.size, game.size, STEPS))

    def places(game):
        return places_by_plane(game.size, game.size, planes=8)

    def action_to_text(game, state, action):
        ends = action % game.size**2, game.target(state, action)
        return "".join(cell_to_text(cell // game.size, cell % game.size, game.size) for cell in ends)

    def draw(game, state, marks):
        by_cell = {game.target(state, action): mark for action, mark in marks.items()}
        return draw_board(board(game, state), game.size, by_cell)

    def picture(game, state, legal, history):
        return Picture(
            squares(game.size, game.size),
            (Player("X", "orange"), Player("O", "blue")),
            pieces_from(board(game, state), {"X": (0, "pawn"), "O": (1, "pawn"), "#": (None, "blocked")}),
            {action: (action % game.size**2, game.target(state, action)) for action in legal},
            steps=("From", "To"),
        )


def board(game, state):
    """Returns a character for each cell."""
    cells = [".#"[hole] for hole in state.holes.ravel()]
    cells[state.pieces[0]], cells[state.pieces[1]] = "X", "O"
    return cells
