"""Four in a row, on a board of 64 bits."""

import numpy as np

from azero.compiler.jit import subroutine

# A column is one byte whatever the board's size, so that the masks which keep a line of four from running over the
# top of one column into the next are constants: a line going up starts in rows 0 to 4, one going down in rows 3 to 7.
_ROWS_0_TO_4 = np.uint64(0x1F1F1F1F1F1F1F1F)
_ROWS_3_TO_7 = np.uint64(0xF8F8F8F8F8F8F8F8)


@subroutine
def has_line(stones):
    """Returns whether four of these stones (uint64, bit 8 * column + row) are in a row.

    Pairs in each direction are found first; two pairs two steps apart are four in a row.
    """
    level = stones & stones >> 8
    upright = stones & stones >> 1
    rising = stones & stones >> 9
    falling = stones & stones >> 7
    lines = (
        level & level >> 16
        | (upright & upright >> 2 | rising & rising >> 18) & _ROWS_0_TO_4
        | falling & falling >> 14 & _ROWS_3_TO_7
    )
    return lines != 0
