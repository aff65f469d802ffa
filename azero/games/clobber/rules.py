"""Clobber on bitboards, from 2x2 to 10x10."""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE, bit_of_rank, count_bits, lowest_bit
from azero.compiler.rng import mix, random_below
from azero.games.bitboard import ROWS, STRIDE, bit_of, has_stone
from azero.games.boards import board_symmetries, places_by_plane, step_symmetries
from azero.games.clobber import text
from azero.games.clobber.board import EAST, NORTH, SOUTH, STATE_DTYPE, STEPS, WEST, movable
from azero.games.contract import LOSS, ONGOING, WIN, Places, Ranges, Symmetries
from azero.games.registry import game


@game("clobber", text)
class Clobber(NamedTuple):
    """Move a stone onto a neighbouring enemy stone, which is removed. A player who cannot move has lost.

    Action `direction * cells + cell`, written `a5b5`, from and to. Directions are north, east, south and west. `cell`
    is the stone's, counted by rows from the top left, and `cells` the number of cells. The board starts full. Its cells
    alternate between the players, and a1 is the first player's.

    Source: Albert, Grossman, Nowakowski & Wolfe, An introduction to Clobber, Integers 5(2) (2005).
    """

    rows: int = 8
    columns: int = 8

    def reset(game, state):
        for player in range(2):
            for half in range(2):
                state.stones[player, half] = 0
        for row in range(game.rows):
            for column in range(game.columns):
                player = (game.rows - 1 - row + column) & 1
                state.stones[player, row // ROWS] |= bit_of(row, column)
        state.ply = 0

    def legal_actions(game, state, out):
        count = 0
        for direction in range(4):
            for half in range(2):
                movers = movable(state, half, direction)
                while movers:
                    place = lowest_bit(movers)
                    movers &= movers - ONE
                    row = place // STRIDE + ROWS * half
                    out[count] = (direction * game.rows + row) * game.columns + place % STRIDE
                    count += 1
        return count

    def rollout_action(game, state, legal, rng):
        total = 0
        for direction in range(4):
            for half in range(2):
                total += count_bits(movable(state, half, direction))
        rank = random_below(rng, total)
        for direction in range(4):
            for half in range(2):
                movers = movable(state, half, direction)
                count = count_bits(movers)
                if rank < count:
                    place = bit_of_rank(movers, rank)
                    row = place // STRIDE + ROWS * half
                    return (direction * game.rows + row) * game.columns + place % STRIDE
                rank -= count
        return -1

    def apply_action(game, state, action):
        player = state.ply & 1
        cells = game.rows * game.columns
        direction, cell = action // cells, action % cells
        row, column = cell // game.columns, cell % game.columns
        state.stones[player, row // ROWS] ^= bit_of(row, column)
        row += int(direction == SOUTH) - int(direction == NORTH)
        column += int(direction == EAST) - int(direction == WEST)
        taken = bit_of(row, column)
        state.stones[player, row // ROWS] |= taken
        state.stones[1 - player, row // ROWS] ^= taken
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        """A stone that can capture can also be captured. So if one player cannot move, the other cannot either."""
        for direction in (EAST, SOUTH, WEST, NORTH):
            if movable(state, 0, direction) | movable(state, 1, direction):
                return ONGOING
        return WIN if state.ply & 1 else LOSS

    def encode(game, state, planes):
        """Planes, top row first: own stones, the opponent's, empty cells."""
        player = state.ply & 1
        for row in range(game.rows):
            for column in range(game.columns):
                is_own = has_stone(state, player, row, column)
                is_theirs = has_stone(state, 1 - player, row, column)
                planes[0, row, column] = is_own
                planes[1, row, column] = is_theirs
                planes[2, row, column] = ONE - (is_own | is_theirs)

    def target(game, state, action):
        """Returns the cell that the stone moves to."""
        cells = game.rows * game.columns
        direction, cell = action // cells, action % cells
        down = int(direction == SOUTH) - int(direction == NORTH)
        return cell + down * game.columns + int(direction == EAST) - int(direction == WEST)

    def hash_key(game, state):
        """Returns a key of the stones. Their number gives the player to move, because each move removes one."""
        key = mix(state.stones[0, 0])
        key = mix(key ^ state.stones[0, 1])
        key = mix(key ^ state.stones[1, 0])
        return mix(key ^ state.stones[1, 1])

    def ranges(game) -> Ranges:
        return {"rows": (2, 10), "columns": (2, 10)}

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return 4 * game.rows * game.columns

    @property
    def max_plies(game) -> int:
        return game.rows * game.columns - 1

    @property
    def is_about_mobility(game) -> bool:
        return True

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, game.rows, game.columns

    def symmetries(game) -> Symmetries:
        """Returns the symmetries of the board that map each initial stone to one of the same colour."""
        board = np.arange(game.rows * game.columns)
        row, column = board // game.columns, board % game.columns
        colour = row + column & 1
        cells = board_symmetries(game.rows, game.columns)
        cells = cells[(colour[cells] == colour).all(axis=1)]
        actions = step_symmetries(cells, game.rows, game.columns, STEPS)
        return Symmetries(cells=cells, actions=actions)

    def places(game) -> Places:
        return places_by_plane(game.rows, game.columns, planes=len(STEPS))
