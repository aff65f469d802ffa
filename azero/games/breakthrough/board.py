"""Breakthrough's board as bits, and the stones that can step."""

import numpy as np

from azero.compiler.bits import ZERO, low_bits
from azero.compiler.jit import subroutine
from azero.games.bitboard import OVER, ROWS, STRIDE, WORD

STATE_DTYPE = np.dtype(
    [
        ("stones", np.uint64, (2, 2)),  # by player and word, bit 11 * (row % 5) + column, row 0 the first player's home
        ("ply", np.int32),
        ("is_won", np.int32),  # whether the last move won
    ],
    align=True,
)

STEPS = [(-1, -1), (-1, 0), (-1, 1)]  # rows down, columns right, as the mover sees the board


@subroutine
def columns(game):
    """Returns the mask (uint64) of the board's columns in one half, five rows."""
    row = low_bits(game.columns)
    mask = ZERO
    for k in range(ROWS):
        mask |= row << STRIDE * k
    return mask


@subroutine
def movable(game, state, half, step):
    """Returns the stones of the player to move, in one half of the board, that can make a step (uint64)."""
    player = state.ply & 1
    blocked_here, blocked_there = state.stones[player, half], state.stones[player, 1 - half]
    if step == 1:  # a straight step cannot capture
        blocked_here = blocked_here | state.stones[1 - player, half]
        blocked_there = blocked_there | state.stones[1 - player, 1 - half]
    free, free_there = ~blocked_here & columns(game), ~blocked_there & columns(game)
    if player == 0:
        ahead = free >> STRIDE
        if half == 0:
            ahead |= free_there << OVER & WORD
    else:
        ahead = free << STRIDE & WORD
        if half == 1:
            ahead |= free_there >> OVER
    if step == 0:
        ahead = ahead << 1
    elif step == 2:
        ahead = ahead >> 1
    return state.stones[player, half] & ahead
