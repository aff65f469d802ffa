"""Amazons and arrows as lines of bits. A count of bits gives an amazon's reach, without a search."""

import numpy as np

from azero.compiler.bits import leading_zeros, lowest_bit
from azero.compiler.jit import subroutine
from azero.compiler.rng import mix

# The board has a frame of occupied cells. Each cell is stored in four lines: its row, its column and two diagonals. So
# an amazon's reach in a direction is the number of zeros next to her bit.
LONGEST = 10
FRAMED = LONGEST + 2
DIAGONALS = 2 * FRAMED - 1

STATE_DTYPE = np.dtype(
    [
        # Occupied cells by line, with the frame: the board's rows and columns count from 1.
        ("rows", np.uint16, (FRAMED,)),  # bit column
        ("columns", np.uint16, (FRAMED,)),  # bit row
        ("falling", np.uint16, (DIAGONALS,)),  # line row - column + 11, bit column
        ("rising", np.uint16, (DIAGONALS,)),  # line row + column, bit column
        ("amazons", np.int32, (2, 4, 2)),  # by player: row and column
        ("phase", np.int32),  # of the move: FROM, TO or SHOT
        ("player", np.int32),  # the player to move
        ("moved", np.int32),  # index of the amazon that moves, in phases TO and SHOT
        ("is_over", np.int32),
        ("key", np.uint64),  # Zobrist key of amazons and arrows, 0 at the start
        ("ply", np.int32),
    ],
    align=True,
)

FROM, TO, SHOT = range(3)

# The eight directions. Each pair shares a line.
DOWN = np.array([0, 0, 1, -1, 1, -1, -1, 1])
RIGHT = np.array([1, -1, 0, 0, 1, -1, 1, -1])


@subroutine
def toggle(state, row, column):
    """Occupies an empty cell, or empties an occupied one."""
    at_column = np.uint16(1 << column)
    state.rows[row] ^= at_column
    state.columns[column] ^= np.uint16(1 << row)
    state.falling[row - column + FRAMED - 1] ^= at_column
    state.rising[row + column] ^= at_column


@subroutine
def _zeros_above(line, place):
    """Returns the number of free places of a line directly above `place`."""
    return lowest_bit(np.uint64(line) >> np.uint64(place + 1))


@subroutine
def _zeros_below(line, place):
    return leading_zeros(np.uint64(line) << np.uint64(64 - place))


@subroutine
def measure_reach(state, row, column, reach):
    """Writes the number of cells in reach in each of the eight directions into `reach[:8]`; returns their sum."""
    along_row, along_column = state.rows[row], state.columns[column]
    falling, rising = state.falling[row - column + FRAMED - 1], state.rising[row + column]
    reach[0] = _zeros_above(along_row, column)
    reach[1] = _zeros_below(along_row, column)
    reach[2] = _zeros_above(along_column, row)
    reach[3] = _zeros_below(along_column, row)
    reach[4] = _zeros_above(falling, column)
    reach[5] = _zeros_below(falling, column)
    reach[6] = _zeros_above(rising, column)
    reach[7] = _zeros_below(rising, column)
    return reach[0] + reach[1] + reach[2] + reach[3] + reach[4] + reach[5] + reach[6] + reach[7]


@subroutine
def can_move(state, row, column):
    """Returns whether a cell has a free neighbour."""
    around = np.uint16(7 << column - 1)
    beside = np.uint16(5 << column - 1)
    return (
        state.rows[row - 1] & around != around
        or state.rows[row + 1] & around != around
        or state.rows[row] & beside != beside
    )


@subroutine
def is_blocked(state, player):
    """Returns whether none of a player's amazons can move."""
    for k in range(4):
        if can_move(state, np.int64(state.amazons[player, k, 0]), np.int64(state.amazons[player, k, 1])):
            return False
    return True


@subroutine
def word_of(kind, row, column):
    """Returns the random word (uint64) of an amazon of player `kind`, an arrow (kind 2) or the moving amazon (3)."""
    return mix(np.uint64(4 * (row * FRAMED + column) + kind + 1))
