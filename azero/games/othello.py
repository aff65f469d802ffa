"""Othello (Reversi) on even boards from 4x4 to 16x16: one word of bits up to 8x8, four words above."""

from typing import NamedTuple

import numpy as np

from azero.bits import bit_of_rank, count_bits, lowest_bit
from azero.errors import BadInput
from azero.games.boards import board_symmetries, cell_to_text, draw_board, split_cells, text_to_cell
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Symmetries
from azero.games.registry import game
from azero.jit import subroutine
from azero.rng import mix, random_below

# Rows from the top; up to 8x8 a row takes eight bits of one word, above sixteen bits, four rows a word.
STATE_DTYPE = np.dtype(
    [
        ("stones", np.uint64, (2, 4)),  # by player and word
        ("moves", np.uint64, (4,)),  # where the player to move can put a stone
        ("ply", np.int32),
        ("is_over", np.int32),
    ],
    align=True,
)

_ONE = np.uint64(1)
_ROW = np.uint64(0xFFFF)
_INNER_COLUMNS = np.uint64(0x7E7E7E7E7E7E7E7E)
_INNER_COLUMNS_OF_16 = np.uint64(0x7FFE7FFE7FFE7FFE)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_WAYS = ((_ONE, _INNER_COLUMNS), (np.uint64(8), _ALL), (np.uint64(7), _INNER_COLUMNS), (np.uint64(9), _INNER_COLUMNS))
"""Shifts that step along a row, a column and the diagonals; and where an enemy stone can be stepped over: from the edge
a step could lead round to the other side of the board, and no stone there lies between two others."""


@subroutine
def _num_words(game):
    return 1 if game.size <= 8 else 4


@subroutine
def _word_of(game, row):
    return 0 if game.size <= 8 else row // 4


@subroutine
def _bit_of(game, row, column):
    return np.uint64(8 * row + column if game.size <= 8 else 16 * (row % 4) + column)


@subroutine
def _action_of(game, word, place):
    if game.size <= 8:
        return place // 8 * game.size + place % 8
    return (4 * word + place // 16) * game.size + place % 16


@subroutine
def _behind_lines(own, enemies, shift, longest):
    """Returns the cells behind lines of enemy stones that begin beside an own one, both ways along a shift."""
    up = enemies & own << shift
    down = enemies & own >> shift
    for _ in range(longest - 1):
        up |= enemies & up << shift
        down |= enemies & down >> shift
    return up << shift | down >> shift


@subroutine
def _moves_in_word(game, own, theirs):
    """Returns where `own` can put a stone: next to enemy stones with an own one behind them."""
    line = (_ONE << np.uint64(game.size)) - _ONE
    board = np.uint64(0)
    for row in range(game.size):
        board |= line << np.uint64(8 * row)
    moves = np.uint64(0)
    for shift, between in _WAYS:
        moves |= _behind_lines(own, theirs & between, shift, 6)
    return moves & board & ~(own | theirs)


@subroutine
def _note_moves_in_words(game, own, theirs, moves):
    """Writes where `own` can put a stone into `moves`, each [4].

    Lines along a row lie in one word. For the others the rows are gone through downwards, then upwards, with the ends
    of lines in three directions that have come as far as the row before.
    """
    for word in range(4):
        moves[word] = _behind_lines(own[word], theirs[word] & _INNER_COLUMNS_OF_16, _ONE, game.size - 2)
    for turn in range(2):
        before, left, straight, right = np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
        for k in range(game.size):
            row = k if turn == 0 else game.size - 1 - k
            word, shift = row // 4, np.uint64(16 * (row % 4))
            enemies = theirs[word] >> shift & _ROW
            moves[word] |= (left >> _ONE | straight | right << _ONE & _ROW) << shift
            left = enemies & (left | before) >> _ONE
            straight = enemies & (straight | before)
            right = enemies & (right | before) << _ONE
            before = own[word] >> shift & _ROW
    line = (_ONE << np.uint64(game.size)) - _ONE
    for word in range(4):
        moves[word] &= line * np.uint64(0x0001000100010001) & ~(own[word] | theirs[word])


@subroutine
def _note_moves(game, state):
    """Notes where the player to move can put a stone; where there is no place, whether the other has one."""
    for turn in range(2):
        player = (state.ply + turn) & 1
        if game.size <= 8:
            state.moves[0] = _moves_in_word(game, state.stones[player, 0], state.stones[1 - player, 0])
        else:
            _note_moves_in_words(game, state.stones[player], state.stones[1 - player], state.moves)
        can_move = (state.moves[0] | state.moves[1] | state.moves[2] | state.moves[3]) != np.uint64(0)
        if can_move:
            break
    state.is_over = not can_move
    if turn == 1:
        for word in range(_num_words(game)):
            state.moves[word] = np.uint64(0)


@subroutine
def _turned_in_word(own, theirs, stone):
    """Returns the enemy stones that `stone` turns over."""
    turned = np.uint64(0)
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
    return state.stones[player, row // 4] >> np.uint64(16 * (row % 4) + column) & _ONE != np.uint64(0)


@subroutine
def _count_turned(game, state, player, row, column, down, right):
    """Returns how many enemy stones in a row a stone of `player` there turns over in one direction."""
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
def _put(game, state, player, row, column):
    """Puts a stone and turns over what lies between it and others of its colour."""
    stone = _ONE << _bit_of(game, row, column)
    if game.size <= 8:
        turned = _turned_in_word(state.stones[player, 0], state.stones[1 - player, 0], stone)
        state.stones[player, 0] |= turned | stone
        state.stones[1 - player, 0] ^= turned
        return
    for direction in range(9):
        down, right = direction // 3 - 1, direction % 3 - 1
        if direction != 4:
            for k in range(1, 1 + _count_turned(game, state, player, row, column, down, right)):
                turned = _ONE << _bit_of(game, row + k * down, column + k * right)
                state.stones[player, (row + k * down) // 4] |= turned
                state.stones[1 - player, (row + k * down) // 4] ^= turned
    state.stones[player, row // 4] |= stone


@game("othello")
class Othello(NamedTuple):
    """Turn over the stones you enclose; most stones win. Action row * size + column, written a1 (top left); or pass.

    A pass is the action size * size, legal only when nothing else is. When neither player can put a stone the game is
    over, as after two passes, which are not played.

    Source: World Othello Federation, official rules; empty cells count for the winner.
    """

    size: int = 8

    def reset(game, state):
        for player in range(2):
            for word in range(4):
                state.stones[player, word] = np.uint64(0)
        for word in range(4):
            state.moves[word] = np.uint64(0)
        low, high = game.size // 2 - 1, game.size // 2
        state.stones[0, _word_of(game, low)] |= _ONE << _bit_of(game, low, high)
        state.stones[0, _word_of(game, high)] |= _ONE << _bit_of(game, high, low)
        state.stones[1, _word_of(game, low)] |= _ONE << _bit_of(game, low, low)
        state.stones[1, _word_of(game, high)] |= _ONE << _bit_of(game, high, high)
        state.ply = 0
        _note_moves(game, state)

    def legal_actions(game, state, out):
        count = 0
        for word in range(_num_words(game)):
            moves = state.moves[word]
            while moves:
                out[count] = _action_of(game, word, lowest_bit(moves))
                moves &= moves - _ONE
                count += 1
        if count == 0:
            out[0] = game.size * game.size
            count = 1
        return count

    def rollout_action(game, state, legal, rng):
        total = 0
        for word in range(_num_words(game)):
            total += count_bits(state.moves[word])
        if total == 0:
            return game.size * game.size
        rank = random_below(rng, total)
        word = 0
        while rank >= count_bits(state.moves[word]):
            rank -= count_bits(state.moves[word])
            word += 1
        return _action_of(game, word, bit_of_rank(state.moves[word], rank))

    def apply_action(game, state, action):
        if action < game.size * game.size:
            _put(game, state, state.ply & 1, action // game.size, action % game.size)
        state.ply += 1
        _note_moves(game, state)

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if not state.is_over:
            return ONGOING
        lead = game.final_score(state)
        return WIN if lead > 0 else LOSS if lead < 0 else DRAW

    def final_score(game, state):
        """Stones of the first player less those of the second, empty cells counted for who has more."""
        first = 0
        second = 0
        for word in range(4):
            first += count_bits(state.stones[0, word])
            second += count_bits(state.stones[1, word])
        lead = first - second
        empty = game.size * game.size - first - second
        return float(lead + empty if lead > 0 else lead - empty if lead < 0 else 0)

    def encode(game, state, planes):
        """Planes, top row first: own stones, the opponent's, empty cells."""
        player = state.ply & 1
        for row in range(game.size):
            for column in range(game.size):
                word, place = _word_of(game, row), _bit_of(game, row, column)
                is_own = state.stones[player, word] >> place & _ONE
                is_theirs = state.stones[1 - player, word] >> place & _ONE
                planes[0, row, column] = is_own
                planes[1, row, column] = is_theirs
                planes[2, row, column] = _ONE - (is_own | is_theirs)

    def hash_key(game, state):
        key = np.uint64(state.ply & 1)
        for player in range(2):
            for word in range(4):
                key = mix(key ^ state.stones[player, word])
        return key

    def check(game) -> None:
        if not 4 <= game.size <= 16 or game.size % 2:
            raise BadInput(f"othello: size={game.size} should be an even number from 4 to 16")

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return game.size**2 + 1

    @property
    def max_plies(game) -> int:
        """No pass follows a pass, and no pass follows the last stone."""
        return 2 * (game.size**2 - 4)

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, game.size, game.size

    def symmetries(game) -> Symmetries:
        """Half a turn and the mirrors in the diagonals, which leave the four stones of the start as they are."""
        row, column = np.divmod(np.arange(game.size**2), game.size)
        start = np.sign(2 * row - game.size + 1) * np.sign(2 * column - game.size + 1)
        cells = board_symmetries(game.size, game.size)
        cells = cells[(start[cells] == start).all(axis=1)]
        passes = np.full((len(cells), 1), game.size**2, np.int32)
        return Symmetries(cells=cells, actions=np.hstack([cells, passes]))

    def action_to_text(game, state, action: int) -> str:
        if action == game.size**2:
            return "pass"
        return cell_to_text(action // game.size, action % game.size, game.size, is_top_first=True)

    def text_to_action(game, state, text: str) -> int:
        if text.lower() == "pass":
            return game.size**2
        cell = text_to_cell(text, game.size, game.size, is_top_first=True)
        if cell is None:
            last = cell_to_text(game.size - 1, game.size - 1, game.size, is_top_first=True)
            raise BadInput(f"{text!r} is no othello move; moves are a1 (top left) to {last}, and pass")
        return cell[0] * game.size + cell[1]

    def split_moves(game, text: str) -> list[str]:
        return split_cells(text)

    def draw(game, state, marks: dict[int, str]) -> str:
        planes = np.zeros(game.planes_shape, np.float32)
        game.encode(state, planes)
        kinds = ".XO" if state.ply % 2 == 0 else ".OX"
        stones = (planes[0] + 2 * planes[1]).astype(int).ravel()
        return draw_board([kinds[stone] for stone in stones], game.size, marks, is_top_first=True)
