"""Breakthrough on bitboards, from 3x2 to 10x10."""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE, bit_of_rank, count_bits, low_bits, lowest_bit
from azero.compiler.rng import mix, random_below
from azero.games.bitboard import ROWS, STRIDE, bit_of, has_stone
from azero.games.boards import places_by_plane, step_symmetries
from azero.games.breakthrough import text
from azero.games.breakthrough.board import STATE_DTYPE, STEPS, movable
from azero.games.contract import LOSS, ONGOING, WIN, Places, Ranges, Symmetries
from azero.games.registry import game


@game("breakthrough", text)
class Breakthrough(NamedTuple):
    """Stones step straight or diagonally forward, and take diagonally. Reach the last row or take all stones to win.

    Action `step * cells + cell`, written `a2-a3`, or `b4xa3` if it takes a stone. Steps are forward left, straight and
    right. `cell` is the stone's, counted by rows from the top left, and `cells` the number of cells. In actions, the
    mover's opponent is on top: the second player sees the rows in reverse order, and the columns as the first player.
    Boards of six or more rows start with two rows of stones per player, smaller boards with one.

    Source: Dan Troyka, Breakthrough (2000). The start of smaller boards is that of OpenSpiel.
    """

    rows: int = 8
    columns: int = 8

    def reset(game, state):
        for player in range(2):
            for half in range(2):
                state.stones[player, half] = 0
        line = low_bits(game.columns)
        for k in range(2 if game.rows >= 6 else 1):
            state.stones[0, 0] |= line << STRIDE * k
            row = game.rows - 1 - k
            state.stones[1, row // ROWS] |= line << STRIDE * (row % ROWS)
        state.ply = 0
        state.is_won = 0

    def legal_actions(game, state, out):
        player = state.ply & 1
        line = low_bits(game.columns)
        count = 0
        for step in range(3):
            movers = movable(game, state, 0, step), movable(game, state, 1, step)
            for seen_row in range(game.rows):
                row = seen_row if player == 1 else game.rows - 1 - seen_row
                half = movers[1] if row >= ROWS else movers[0]
                stones = half >> STRIDE * (row % ROWS) & line
                while stones:
                    out[count] = (step * game.rows + seen_row) * game.columns + lowest_bit(stones)
                    count += 1
                    stones &= stones - ONE
        return count

    def rollout_action(game, state, legal, rng):
        player = state.ply & 1
        total = 0
        for step in range(3):
            for half in range(2):
                total += count_bits(movable(game, state, half, step))
        rank = random_below(rng, total)
        for step in range(3):
            for half in range(2):
                movers = movable(game, state, half, step)
                count = count_bits(movers)
                if rank < count:
                    place = bit_of_rank(movers, rank)
                    row = place // STRIDE + ROWS * half
                    seen_row = row if player == 1 else game.rows - 1 - row
                    return (step * game.rows + seen_row) * game.columns + place % STRIDE
                rank -= count
        return -1

    def apply_action(game, state, action):
        player = state.ply & 1
        cells = game.rows * game.columns
        step, cell = action // cells, action % cells
        seen_row, column = cell // game.columns, cell % game.columns
        row = seen_row if player == 1 else game.rows - 1 - seen_row
        state.stones[player, row // ROWS] ^= bit_of(row, column)
        row += 1 - 2 * player
        target = bit_of(row, column + step - 1)
        state.stones[player, row // ROWS] |= target
        state.stones[1 - player, row // ROWS] &= ~target
        state.ply += 1
        has_none_left = not (state.stones[1 - player, 0] | state.stones[1 - player, 1])
        if has_none_left or row == (game.rows - 1 if player == 0 else 0):
            state.is_won = 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        """A player can always move: the foremost stone can step to a diagonal cell ahead of it."""
        if state.is_won:
            return WIN if state.ply & 1 else LOSS
        return ONGOING

    def encode(game, state, planes):
        """Planes, the opponent's home row first: own stones, the opponent's, empty cells."""
        player = state.ply & 1
        for seen_row in range(game.rows):
            row = seen_row if player == 1 else game.rows - 1 - seen_row
            for column in range(game.columns):
                is_own = has_stone(state, player, row, column)
                is_theirs = has_stone(state, 1 - player, row, column)
                planes[0, seen_row, column] = is_own
                planes[1, seen_row, column] = is_theirs
                planes[2, seen_row, column] = ONE - (is_own | is_theirs)

    def target(game, state, action):
        """Returns the cell that the stone steps to, as the mover sees the board."""
        cells = game.rows * game.columns
        step, cell = action // cells, action % cells
        return cell - game.columns + step - 1

    def hash_key(game, state):
        key = mix(state.stones[0, 0])
        key = mix(key ^ state.stones[0, 1])
        key = mix(key ^ state.stones[1, 0])
        key = mix(key ^ state.stones[1, 1])
        return mix(key ^ np.uint64(state.ply & 1))

    def ranges(game) -> Ranges:
        return {"rows": (3, 10), "columns": (2, 10)}

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return 3 * game.rows * game.columns

    @property
    def max_plies(game) -> int:
        """Each ply moves a stone one row forward."""
        rows_to_go = game.rows - 1 + (game.rows - 2 if game.rows >= 6 else 0)
        return 2 * game.columns * rows_to_go

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, game.rows, game.columns

    def symmetries(game) -> Symmetries:
        """Returns the identity and the left-right mirror image."""
        board = np.arange(game.rows * game.columns, dtype=np.int32).reshape(game.rows, game.columns)
        cells = np.stack([board.ravel(), board[:, ::-1].ravel()])
        return Symmetries(cells=cells, actions=step_symmetries(cells, game.rows, game.columns, STEPS))

    def places(game) -> Places:
        return places_by_plane(game.rows, game.columns, planes=len(STEPS))
