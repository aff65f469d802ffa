"""Boards of up to ten rows and columns in two words of five rows each, as Breakthrough and Clobber have them."""

import numpy as np

ROWS = 5  # of a word
STRIDE = 11  # bits of a row, one more than the widest board: nothing steps over its end into the next row
OVER = np.uint64(STRIDE * (ROWS - 1))  # from a row of one word to the row beside it in the other
WORD = np.uint64((1 << STRIDE * ROWS) - 1)
ONE = np.uint64(1)
