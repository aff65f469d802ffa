"""Gomoku and other m,n,k-games: k in a row on boards of up to 20x20."""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE, bit, has_bit, leading_zeros, lowest_bit
from azero.compiler.jit import subroutine
from azero.compiler.rng import mix, random_below
from azero.errors import BadInput
from azero.games.boards import board_symmetries, places_by_plane
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Places, Ranges, Symmetries
from azero.games.gomoku import text
from azero.games.registry import game

_MAX = 20


def _state_dtype_of(side: int) -> np.dtype:
    """Returns the dtype of states of boards of up to side x side."""
    return np.dtype(
        [
            # By player and line. Each stone is stored in four lines, so that stones in a row are a run of set bits.
            ("rows", np.uint32, (2, side)),  # bit column
            ("columns", np.uint32, (2, side)),  # bit row
            ("falling", np.uint32, (2, 2 * side - 1)),  # line row - column + side - 1, bit column
            ("rising", np.uint32, (2, 2 * side - 1)),  # line row + column, bit column
            ("key", np.uint64),  # Zobrist key of the stones
            ("ply", np.int32),
            ("is_won", np.int32),  # whether the last move won
        ],
        align=True,
    )


STATE_DTYPE = _state_dtype_of(19)
LARGE_STATE_DTYPE = _state_dtype_of(_MAX)
"""A dtype of its own, so that kept games of smaller boards stay readable."""


@subroutine
def _run_through(line, place):
    """Returns the length of the run of set bits in `line` (uint32) that contains bit `place`."""
    bits = np.uint64(line)
    above = lowest_bit(~(bits >> np.uint64(place)))
    below = leading_zeros(~(bits << np.uint64(63 - place)))
    return above + below - 1


@game("gomoku", text)
class Gomoku(NamedTuple):
    """k in a row wins; a full board is a draw. Action row * columns + column, written a1 (bottom left).

    A row of stones may be horizontal, vertical or diagonal. More than k stones in a row also win, unless `exact` is
    set. In actions, rows count from the top. In text, they count from the bottom.
    """

    rows: int = 15
    columns: int = 15
    k: int = 5
    exact: bool = False

    def reset(game, state):
        for player in range(2):
            for line in range(state.rows.shape[1]):
                state.rows[player, line] = 0
                state.columns[player, line] = 0
            for line in range(state.falling.shape[1]):
                state.falling[player, line] = 0
                state.rising[player, line] = 0
        state.key = 0
        state.ply = 0
        state.is_won = 0

    def legal_actions(game, state, out):
        count = 0
        for row in range(game.rows):
            occupied = state.rows[0, row] | state.rows[1, row]
            for column in range(game.columns):
                if not has_bit(occupied, column):
                    out[count] = row * game.columns + column
                    count += 1
        return count

    def rollout_action(game, state, legal, rng):
        while True:
            action = random_below(rng, game.rows * game.columns)
            row, column = action // game.columns, action % game.columns
            if not has_bit(state.rows[0, row] | state.rows[1, row], column):
                return action

    def apply_action(game, state, action):
        player = state.ply & 1
        row, column = action // game.columns, action % game.columns
        falling, rising = row - column + state.rows.shape[1] - 1, row + column
        at_column = bit(column)
        state.rows[player, row] |= at_column
        state.columns[player, column] |= bit(row)
        state.falling[player, falling] |= at_column
        state.rising[player, rising] |= at_column
        state.key ^= mix(np.uint64(2 * action + player + 1))
        state.ply += 1
        a = _run_through(state.rows[player, row], column)
        b = _run_through(state.columns[player, column], row)
        c = _run_through(state.falling[player, falling], column)
        d = _run_through(state.rising[player, rising], column)
        if game.exact:
            state.is_won = a == game.k or b == game.k or c == game.k or d == game.k
        else:
            state.is_won = max(max(a, b), max(c, d)) >= game.k

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.is_won:
            return WIN if state.ply & 1 else LOSS
        return DRAW if state.ply == game.rows * game.columns else ONGOING

    def encode(game, state, planes):
        """Planes, top row first: own stones, the opponent's, empty cells."""
        player = state.ply & 1
        for row in range(game.rows):
            for column in range(game.columns):
                is_own = has_bit(state.rows[player, row], column)
                is_theirs = has_bit(state.rows[1 - player, row], column)
                planes[0, row, column] = is_own
                planes[1, row, column] = is_theirs
                planes[2, row, column] = ONE - (is_own | is_theirs)

    def hash_key(game, state):
        """Returns the Zobrist (1970) key: the exclusive or of one random word per stone, updated at each move."""
        return mix(state.key)

    def ranges(game) -> Ranges:
        return {"rows": (1, _MAX), "columns": (1, _MAX), "k": (1, _MAX)}

    def check(game) -> None:
        longest = max(game.rows, game.columns)
        if game.k > longest:
            board = f"a board of {game.rows}x{game.columns}"
            raise BadInput(
                f"gomoku: k={game.k} in a row do not fit on {board}; k can be 1 to {longest}, e.g. k={longest}"
            )

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE if max(game.rows, game.columns) <= 19 else LARGE_STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return game.rows * game.columns

    @property
    def max_plies(game) -> int:
        return game.rows * game.columns

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, game.rows, game.columns

    def symmetries(game) -> Symmetries:
        cells = board_symmetries(game.rows, game.columns)
        return Symmetries(cells=cells, actions=cells)

    def places(game) -> Places:
        return places_by_plane(game.rows, game.columns)
