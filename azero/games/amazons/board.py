"""Amazons and arrows on the board as lines of bits: where an amazon can go is counted, not searched."""

import numpy as np

from azero.compiler.bits import leading_zeros, lowest_bit
from azero.compiler.jit import subroutine
from azero.compiler.rng import mix

# The board lies in a frame of occupied cells, and every cell stands in four lines: its row, column and diagonals. How
# far an amazon can go is then a count of zeros beside her bit.
LONGEST = 10
FRAMED = LONGEST + 2
DIAGONALS = 2 * FRAMED - 1

STATE_DTYPE = np.dtype(
    [
        # What is occupied, by line; framed coordinates, rows and columns from 1.
        ("rows", np.uint16, (FRAMED,)),  # bit column
        ("columns", np.uint16, (FRAMED,)),  # bit row
        ("falling", np.uint16, (DIAGONALS,)),  # line row - column + 11, bit column
        ("rising", np.uint16, (DIAGONALS,)),  # line row + column, bit column
        ("amazons", np.int32, (2, 4, 2)),  # by player: row and column
        ("phase", np.int32),  # of the move: FROM, TO or SHOT
        ("player", np.int32),  # who moves
        ("moved", np.int32),  # the amazon that moves, in phases TO and SHOT
        ("is_over", np.int32),
        ("key", np.uint64),
        ("ply", np.int32),
    ],
    align=True,
)

FROM, TO, SHOT = range(3)

# The eight directions, in pairs that share a line.
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
    """Returns how many places of a line are free from the one above `place` on."""
    return lowest_bit(np.uint64(line) >> np.uint64(place + 1))


@subroutine
def _zeros_below(line, place):
    return leading_zeros(np.uint64(line) << np.uint64(64 - place))


@subroutine
def measure_reach(state, row, column, reach):
    """Writes how many cells are free in each direction from a cell into `reach`; returns how many in all."""
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
    """Returns whether a cell has a free one beside it."""
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
    """Returns the random word of player 0's or 1's amazon (kind 0, 1), an arrow (2), or the amazon on the move (3)."""
    return mix(np.uint64(4 * (row * FRAMED + column) + kind + 1))
