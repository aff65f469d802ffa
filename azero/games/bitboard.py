"""Bitboards of up to 10x10: two words of five rows each, for Breakthrough and Clobber."""

import numpy as np

from azero.compiler.bits import bit, has_bit
from azero.compiler.jit import shared_with_python

ROWS = 5  # per word
STRIDE = 11  # bits per row, one more than the widest board, so that a step over the end of a row leaves the board
OVER = STRIDE * (ROWS - 1)  # shift between the last row of word 0 and the first row of word 1
WORD = np.uint64((1 << STRIDE * ROWS) - 1)


@shared_with_python
def bit_of(row, column):
    """Returns a word (uint64) in which only the cell's bit is set. The cell belongs to word `row // ROWS`."""
    return bit(STRIDE * (row % ROWS) + column)


@shared_with_python
def has_stone(state, player, row, column):
    """Returns 1 if a player has a stone on a cell, else 0 (uint64)."""
    return has_bit(state.stones[player, row // ROWS], STRIDE * (row % ROWS) + column)
