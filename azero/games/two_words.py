"""Boards of up to ten rows and columns in two words of five rows each, as Breakthrough and Clobber have them."""

import numpy as np

from azero.compiler.bits import bit, has_bit
from azero.compiler.jit import shared_with_python

ROWS = 5  # of a word
STRIDE = 11  # bits of a row, one more than the widest board: nothing steps over its end into the next row
OVER = STRIDE * (ROWS - 1)  # from a row of one word to the row beside it in the other
WORD = np.uint64((1 << STRIDE * ROWS) - 1)


@shared_with_python
def bit_of(row, column):
    """Returns the bit of a cell, in the word `row // ROWS`."""
    return bit(STRIDE * (row % ROWS) + column)


@shared_with_python
def has_stone(state, player, row, column):
    """Returns 1 where a player has a stone on a cell, else 0 (uint64)."""
    return has_bit(state.stones[player, row // ROWS], STRIDE * (row % ROWS) + column)
