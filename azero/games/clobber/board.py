"""Clobber's board as bits, and the stones that can capture."""

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.bitboard import OVER, STRIDE, WORD

STATE_DTYPE = np.dtype(
    [
        ("stones", np.uint64, (2, 2)),  # by player and word, bit 11 * (row % 5) + column, row 0 at the top
        ("ply", np.int32),
    ],
    align=True,
)

NORTH, EAST, SOUTH, WEST = range(4)
STEPS = [(-1, 0), (0, 1), (1, 0), (0, -1)]  # rows down, columns right


@subroutine
def neighbours(word, other_word, half, direction):
    """Returns the cells of one half of a board whose neighbour in `direction` is set on that board (uint64).

    Args:
      word: the set cells of this half.
      other_word: the set cells of the other half.
      half: 0 for the upper half, 1 for the lower.
      direction: NORTH, EAST, SOUTH or WEST.
    """
    if direction == EAST:
        return word >> 1
    if direction == WEST:
        return word << 1 & WORD
    if direction == NORTH:
        near = word << STRIDE & WORD
        return near | other_word >> OVER if half == 1 else near
    far = word >> STRIDE
    return far | other_word << OVER & WORD if half == 0 else far


@subroutine
def movable(state, half, direction):
    """Returns the stones of the player to move, in one half of the board, that can capture in `direction` (uint64)."""
    player = state.ply & 1
    own = state.stones[player, half]
    theirs = state.stones[1 - player]
    return own & neighbours(theirs[half], theirs[1 - half], half, direction)
