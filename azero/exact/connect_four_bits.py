"""Bitboards of Connect Four: threats, safe moves and keys. A column has one bit more than the board has rows.

Source: Pons, "Solving Connect 4: how to build a perfect AI" (2016), blog.gamesolver.org, parts 6, 7 and 9.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE, ZERO, count_bits, low_bits
from azero.compiler.jit import subroutine
from azero.games.connect_four.rules import ConnectFour

_EMPTY_CELLS_MIRRORED = 18
"""A position and its mirror image have the same key if at least this many cells are empty.

Later in the game that costs too much.
"""


class Board(NamedTuple):
    """A board size, as bitboards."""

    rows: int
    columns: int
    bottom: np.uint64  # the lowest cell of each column
    cells: np.uint64  # all cells


def board_of(rules: ConnectFour) -> Board:
    """Returns the board of a game with columns * (rows + 1) <= 64."""
    bottom = sum(1 << (rules.rows + 1) * column for column in range(rules.columns))
    return Board(rules.rows, rules.columns, np.uint64(bottom), np.uint64(bottom * ((1 << rules.rows) - 1)))


@subroutine
def key_of(board, own, mask):
    """Returns the key (uint64) of a position. Different positions have different keys, except for mirror images.

    Each column holds its stones, 1 for those of the player to move, and a 1 above them. If many cells are empty, the
    key is the lesser of the position's and its mirror image's.
    """
    key = own + mask + board.bottom
    if count_bits(board.cells ^ mask) < _EMPTY_CELLS_MIRRORED:
        return key
    stride = board.rows + 1
    column = low_bits(stride)
    rest, mirrored = key, ZERO
    for _ in range(board.columns):
        mirrored = mirrored << stride | rest & column
        rest = rest >> stride
    return min(key, mirrored)


@subroutine
def winning_cells(board, own, mask):
    """Returns the empty cells, reachable or not, that complete four in a row for the stones `own`."""
    found = own << 1 & own << 2 & own << 3
    for step in range(board.rows, board.rows + 3):  # falling, level, rising
        pair = own << step & own << 2 * step
        found |= pair & (own << 3 * step | own >> step)
        pair = own >> step & own >> 2 * step
        found |= pair & (own >> 3 * step | own << step)
    return found & (board.cells ^ mask)


@subroutine
def safe_moves(board, own, mask):
    """Returns the playable cells after which the opponent cannot win at once."""
    playable = mask + board.bottom & board.cells
    threats = winning_cells(board, own ^ mask, mask)
    forced = playable & threats
    if forced:
        playable = forced if forced & (forced - ONE) == 0 else ZERO
    return playable & ~(threats >> 1)


@subroutine
def is_lineless(board, own, mask):
    """Returns whether the stones `own` cannot make four in a row even with every empty cell."""
    could = own | board.cells ^ mask
    lines = could & could >> 1 & could >> 2 & could >> 3
    for step in range(board.rows, board.rows + 3):
        pair = could & could >> step
        lines |= pair & pair >> 2 * step
    return lines == 0
