"""Detection of four in a row on a board of 64 bits."""

import numpy as np

from azero.compiler.jit import subroutine

# A column takes one byte on boards of every size. So constant masks exclude lines that run over the end of a column
# into the next one. Upright lines start in rows 0 to 4. From left to right, rising lines start in rows 0 to 4, and
# falling lines in rows 3 to 7.
_ROWS_0_TO_4 = np.uint64(0x1F1F1F1F1F1F1F1F)
_ROWS_3_TO_7 = np.uint64(0xF8F8F8F8F8F8F8F8)


@subroutine
def has_line(stones):
    """Returns whether four of these stones (uint64, bit 8 * column + row) are in a row.

    It finds pairs of stones in each direction. Two pairs that are two steps apart are four in a row.
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
