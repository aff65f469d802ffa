"""Connect Four on bitboards, from 4x4 to 8x8."""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE, bit, count_bits, has_bit
from azero.compiler.jit import subroutine
from azero.compiler.rng import mix
from azero.games.connect_four import text
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Places, Ranges, Symmetries
from azero.games.registry import game

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


STATE_DTYPE = np.dtype(
    [
        ("stones", np.uint64, (2,)),  # by player, bit 8 * column + row, row 0 at the bottom
        ("ply", np.int32),
        ("has_line", np.int32),  # whether the last move made four in a row
    ],
    align=True,
)

_COLUMN = np.uint64(0xFF)


@game("connect_four", text)
class ConnectFour(NamedTuple):
    """Stones fall down columns. Four in a row wins; a full board is a draw. Actions are columns, written 1, 2, ..."""

    rows: int = 6
    columns: int = 7

    def reset(game, state):
        state.stones[0] = 0
        state.stones[1] = 0
        state.ply = 0
        state.has_line = 0

    def legal_actions(game, state, out):
        occupied = state.stones[0] | state.stones[1]
        count = 0
        for column in range(game.columns):
            if not has_bit(occupied, 8 * column + game.rows - 1):
                out[count] = column
                count += 1
        return count

    def apply_action(game, state, action):
        player = state.ply & 1
        occupied = state.stones[0] | state.stones[1]
        lowest_empty = (occupied + bit(8 * action)) & ~occupied
        own = state.stones[player] | lowest_empty
        state.stones[player] = own
        state.ply += 1
        if has_line(own):
            state.has_line = 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.has_line:
            return WIN if state.ply & 1 else LOSS
        return DRAW if state.ply == game.rows * game.columns else ONGOING

    def encode(game, state, planes):
        """Planes, top row first: own stones, the opponent's, empty cells."""
        own = state.stones[state.ply & 1]
        theirs = state.stones[1 - (state.ply & 1)]
        for column in range(game.columns):
            for row in range(game.rows):
                cell = 8 * column + game.rows - 1 - row
                is_own, is_theirs = has_bit(own, cell), has_bit(theirs, cell)
                planes[0, row, column] = is_own
                planes[1, row, column] = is_theirs
                planes[2, row, column] = ONE - (is_own | is_theirs)

    def target(game, state, action):
        """Returns the cell on which the stone lands."""
        column = (state.stones[0] | state.stones[1]) >> np.uint64(8 * action)
        height = count_bits(column & _COLUMN)
        return (game.rows - 1 - height) * game.columns + action

    def hash_key(game, state):
        return mix(mix(state.stones[0]) ^ state.stones[1])

    def ranges(game) -> Ranges:
        return {"rows": (4, 8), "columns": (4, 8)}

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return game.columns

    @property
    def max_plies(game) -> int:
        return game.rows * game.columns

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, game.rows, game.columns

    def symmetries(game) -> Symmetries:
        """Returns the identity and the left-right mirror image."""
        board = np.arange(game.rows * game.columns, dtype=np.int32).reshape(game.rows, game.columns)
        columns = np.arange(game.columns, dtype=np.int32)
        return Symmetries(
            cells=np.stack([board.ravel(), board[:, ::-1].ravel()]), actions=np.stack([columns, columns[::-1]])
        )

    def places(game) -> Places:
        """Returns the top cell of each column."""
        return Places(planes=1, slots=0, numbers=np.arange(game.columns, dtype=np.int32))
