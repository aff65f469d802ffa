"""An Othello board as bits: the cells where a stone can be put, and the stones that it turns over."""

import numpy as np

from azero.compiler.bits import ZERO, bit, has_bit, low_bits
from azero.compiler.jit import subroutine

# Rows count from the top. Up to 8x8 a row takes 8 bits of word 0. On larger boards a row takes 16 bits, four per word.
STATE_DTYPE = np.dtype(
    [
        ("stones", np.uint64, (2, 4)),  # by player and word
        ("moves", np.uint64, (4,)),  # where the player to move can put a stone
        ("ply", np.int32),
        ("is_over", np.int32),
    ],
    align=True,
)

_ROW = np.uint64(0xFFFF)
_INNER_COLUMNS = np.uint64(0x7E7E7E7E7E7E7E7E)
_FIRST_COLUMN_OF_16 = np.uint64(0x0001000100010001)
_INNER_COLUMNS_OF_16 = np.uint64(0x7FFE7FFE7FFE7FFE)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_WAYS = ((1, _INNER_COLUMNS), (8, _ALL), (7, _INNER_COLUMNS), (9, _INNER_COLUMNS))
"""Shifts along a row, a column and the two diagonals, each with a mask of the enemy stones that a line can pass over.

All shifts except the one along a column exclude the edge columns. A step over the edge would come back in on the other
side of the board. A stone in an edge column is never between two others in these directions."""


@subroutine
def num_words(game):
    """Returns the number of words per board."""
    return 1 if game.size <= 8 else 4


@subroutine
def word_of(game, row):
    """Returns the index of the word that contains a row."""
    return 0 if game.size <= 8 else row // 4


@subroutine
def place_of(game, row, column):
    """Returns the place of a cell's bit in its word."""
    return 8 * row + column if game.size <= 8 else 16 * (row % 4) + column


@subroutine
def action_of(game, word, place):
    """Returns the action that puts a stone on the cell at bit `place` of a word."""
    if game.size <= 8:
        return place // 8 * game.size + place % 8
    return (4 * word + place // 16) * game.size + place % 16


@subroutine
def _behind_lines(own, enemies, shift, longest):
    """Returns the cells behind lines of up to `longest` enemy stones next to an own stone, in both directions."""
    up = enemies & own << shift
    down = enemies & own >> shift
    for _ in range(longest - 1):
        up |= enemies & up << shift
        down |= enemies & down >> shift
    return up << shift | down >> shift


@subroutine
def _moves_in_word(game, own, theirs):
    """Returns the cells (uint64) where `own` can put a stone: empty ones behind lines of enemy stones. Up to 8x8."""
    line = low_bits(game.size)
    board = ZERO
    for row in range(game.size):
        board |= line << 8 * row
    moves = ZERO
    for shift, between in _WAYS:
        moves |= _behind_lines(own, theirs & between, shift, 6)
    return moves & board & ~(own | theirs)


@subroutine
def _note_moves_in_words(game, own, theirs, moves):
    """Writes the cells where `own` can put a stone into `moves`; stones and cells are [4] uint64. Above 8x8.

    Lines along a row are in one word. The other lines are followed row by row, first downwards, then upwards. `left`,
    `straight` and `right` are the enemy stones in the previous row that end a line in one of three directions.
    """
    for word in range(4):
        moves[word] = _behind_lines(own[word], theirs[word] & _INNER_COLUMNS_OF_16, 1, game.size - 2)
    for turn in range(2):
        before = left = straight = right = ZERO
        for k in range(game.size):
            row = k if turn == 0 else game.size - 1 - k
            word, shift = row // 4, 16 * (row % 4)
            enemies = theirs[word] >> shift & _ROW
            moves[word] |= (left >> 1 | straight | right << 1 & _ROW) << shift
            left = enemies & (left | before) >> 1
            straight = enemies & (straight | before)
            right = enemies & (right | before) << 1
            before = own[word] >> shift & _ROW
    line = low_bits(game.size)
    for word in range(4):
        moves[word] &= line * _FIRST_COLUMN_OF_16 & ~(own[word] | theirs[word])


@subroutine
def note_moves(game, state):
    """Sets `moves` for the player to move, and `is_over` if neither player can put a stone."""
    for turn in range(2):
        player = (state.ply + turn) & 1
        if game.size <= 8:
            state.moves[0] = _moves_in_word(game, state.stones[player, 0], state.stones[1 - player, 0])
        else:
            _note_moves_in_words(game, state.stones[player], state.stones[1 - player], state.moves)
        can_move = (state.moves[0] | state.moves[1] | state.moves[2] | state.moves[3]) != 0
        if can_move:
            break
    state.is_over = not can_move
    if turn == 1:
        for word in range(num_words(game)):
            state.moves[word] = 0


@subroutine
def _turned_in_word(own, theirs, stone):
    """Returns the enemy stones that `stone` turns over; all are uint64 with a bit per cell."""
    turned = ZERO
    for shift, between in _WAYS:
        enemies = theirs & between
        up = enemies & stone << shift
        down = enemies & stone >> shift
        for _ in range(5):
            up |= enemies & up << shift
            down |= enemies & down >> shift
        if up << shift & own:
            turned |= up
        if down >> shift & own:
            turned |= down
    return turned


@subroutine
def _has_stone(state, player, row, column):
    return has_bit(state.stones[player, row // 4], 16 * (row % 4) + column)


@subroutine
def _count_turned(game, state, player, row, column, down, right):
    """Returns how many enemy stones a stone of `player` on a cell turns over in the direction (down, right)."""
    count = 0
    while True:
        row += down
        column += right
        if not (0 <= row < game.size and 0 <= column < game.size):
            return 0
        if not _has_stone(state, 1 - player, row, column):
            return count if _has_stone(state, player, row, column) else 0
        count += 1


@subroutine
def put_stone(game, state, player, row, column):
    """Puts a stone, and turns over the enemy stones between it and other stones of its colour."""
    stone = bit(place_of(game, row, column))
    if game.size <= 8:
        turned = _turned_in_word(state.stones[player, 0], state.stones[1 - player, 0], stone)
        state.stones[player, 0] |= turned | stone
        state.stones[1 - player, 0] ^= turned
        return
    for direction in range(9):
        down, right = direction // 3 - 1, direction % 3 - 1
        if direction != 4:
            for k in range(1, 1 + _count_turned(game, state, player, row, column, down, right)):
                turned = bit(place_of(game, row + k * down, column + k * right))
                state.stones[player, (row + k * down) // 4] |= turned
                state.stones[1 - player, (row + k * down) // 4] ^= turned
    state.stones[player, row // 4] |= stone
