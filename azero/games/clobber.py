"""Clobber on bitboards, any rectangle from 2x2 to 10x10."""

import re
from typing import NamedTuple

import numpy as np

from azero.bits import bit_of_rank, count_bits, lowest_bit
from azero.errors import BadInput
from azero.games.boards import (
    board_symmetries,
    cell_to_text,
    draw_board,
    step_symmetries,
    text_to_cell,
)
from azero.games.contract import LOSS, ONGOING, WIN, Ranges, Symmetries
from azero.games.registry import game
from azero.jit import subroutine
from azero.rng import mix, random_below

# Two words of five rows each. A row takes eleven bits, one more than the widest board, so that nothing steps over its
# end into the next row.
_STRIDE = 11
_ROWS = 5
_ROW = np.uint64(_STRIDE)
_OVER = np.uint64(_STRIDE * (_ROWS - 1))
_WORD = np.uint64((1 << _STRIDE * _ROWS) - 1)
_ONE = np.uint64(1)

STATE_DTYPE = np.dtype(
    [
        ("stones", np.uint64, (2, 2)),  # by player and word, bit 11 * (row % 5) + column, row 0 at the top
        ("ply", np.int32),
    ],
    align=True,
)

NORTH, EAST, SOUTH, WEST = range(4)
STEPS = [(-1, 0), (0, 1), (1, 0), (0, -1)]  # rows down, columns right


@subroutine
def _neighbours(word, other_word, half, direction):
    """Returns the cells of `word`, half 0 or 1 of a board, whose neighbour in `direction` is set on that board.

    Args:
      word: the half whose neighbours are looked at, and `other_word` the other half of the same board.
    """
    if direction == EAST:
        return word >> _ONE
    if direction == WEST:
        return word << _ONE & _WORD
    if direction == NORTH:
        near = word << _ROW & _WORD
        return near | other_word >> _OVER if half == 1 else near
    far = word >> _ROW
    return far | other_word << _OVER & _WORD if half == 0 else far


@subroutine
def _movers(state, half, direction):
    """Returns the stones of the player to move in half a board that can clobber in `direction`."""
    player = state.ply & 1
    own = state.stones[player, half]
    theirs = state.stones[1 - player]
    return own & _neighbours(theirs[half], theirs[1 - half], half, direction)


@game("clobber")
class Clobber(NamedTuple):
    """Take a neighbouring enemy stone by moving onto it; who cannot is lost.

    Action `direction * cells + cell`: north, east, south, west of a stone's cell, counted by rows from the top left.
    Written `a5b5`, from and to. The first player has the cells of a1's colour.

    Source: Albert, Grossman, Nowakowski & Wolfe, An introduction to Clobber, Integers 5(2) (2005).
    """

    rows: int = 8
    columns: int = 8

    def reset(game, state):
        for player in range(2):
            for half in range(2):
                state.stones[player, half] = np.uint64(0)
        for row in range(game.rows):
            for column in range(game.columns):
                player = (game.rows - 1 - row + column) & 1
                half, place = row // _ROWS, np.uint64(_STRIDE * (row % _ROWS) + column)
                state.stones[player, half] |= _ONE << place
        state.ply = 0

    def legal_actions(game, state, out):
        count = 0
        for direction in range(4):
            for half in range(2):
                movers = _movers(state, half, direction)
                while movers:
                    place = lowest_bit(movers)
                    movers &= movers - _ONE
                    row = place // _STRIDE + _ROWS * half
                    out[count] = (direction * game.rows + row) * game.columns + place % _STRIDE
                    count += 1
        return count

    def rollout_action(game, state, legal, rng):
        total = 0
        for direction in range(4):
            for half in range(2):
                total += count_bits(_movers(state, half, direction))
        rank = random_below(rng, total)
        for direction in range(4):
            for half in range(2):
                movers = _movers(state, half, direction)
                count = count_bits(movers)
                if rank < count:
                    place = bit_of_rank(movers, rank)
                    row = place // _STRIDE + _ROWS * half
                    return (direction * game.rows + row) * game.columns + place % _STRIDE
                rank -= count
        return -1

    def apply_action(game, state, action):
        player = state.ply & 1
        cells = game.rows * game.columns
        direction, cell = action // cells, action % cells
        row, column = cell // game.columns, cell % game.columns
        state.stones[player, row // _ROWS] ^= _ONE << np.uint64(_STRIDE * (row % _ROWS) + column)
        row += int(direction == SOUTH) - int(direction == NORTH)
        column += int(direction == EAST) - int(direction == WEST)
        taken = _ONE << np.uint64(_STRIDE * (row % _ROWS) + column)
        state.stones[player, row // _ROWS] |= taken
        state.stones[1 - player, row // _ROWS] ^= taken
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        """Who can clobber stands beside one who can clobber back: when one player cannot move, nobody can."""
        for direction in (EAST, SOUTH, WEST, NORTH):
            if _movers(state, 0, direction) | _movers(state, 1, direction):
                return ONGOING
        return WIN if state.ply & 1 else LOSS

    def encode(game, state, planes):
        """Planes, top row first: own stones, the opponent's, empty cells."""
        player = state.ply & 1
        for row in range(game.rows):
            for column in range(game.columns):
                place = np.uint64(_STRIDE * (row % _ROWS) + column)
                is_own = state.stones[player, row // _ROWS] >> place & _ONE
                is_theirs = state.stones[1 - player, row // _ROWS] >> place & _ONE
                planes[0, row, column] = is_own
                planes[1, row, column] = is_theirs
                planes[2, row, column] = _ONE - (is_own | is_theirs)

    def target(game, state, action):
        """Returns the cell that is taken."""
        cells = game.rows * game.columns
        direction, cell = action // cells, action % cells
        down = int(direction == SOUTH) - int(direction == NORTH)
        return cell + down * game.columns + int(direction == EAST) - int(direction == WEST)

    def hash_key(game, state):
        """Each move takes a stone, so the stones tell whose turn it is."""
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
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, game.rows, game.columns

    def symmetries(game) -> Symmetries:
        """Those of the board that put every stone on a cell of its own colour."""
        board = np.arange(game.rows * game.columns)
        row, column = board // game.columns, board % game.columns
        colour = row + column & 1
        cells = board_symmetries(game.rows, game.columns)
        cells = cells[(colour[cells] == colour).all(axis=1)]
        actions = step_symmetries(cells, game.rows, game.columns, STEPS)
        return Symmetries(cells=cells, actions=actions)

    def action_to_text(game, state, action: int) -> str:
        direction, cell = divmod(action, game.rows * game.columns)
        row, column = divmod(cell, game.columns)
        down, right = STEPS[direction]
        return cell_to_text(row, column, game.rows) + cell_to_text(row + down, column + right, game.rows)

    def text_to_action(game, state, text: str) -> int:
        match = re.fullmatch(r"([a-z]\d+)-?([a-z]\d+)", text.lower(), re.ASCII)
        start, end = (text_to_cell(part, game.rows, game.columns) for part in match.groups()) if match else (None, None)
        step = (end[0] - start[0], end[1] - start[1]) if start and end else None
        if start is None or step not in STEPS:
            raise BadInput(f"{text!r} is no clobber move; moves go from a cell to the next, e.g. a1a2")
        return (STEPS.index(step) * game.rows + start[0]) * game.columns + start[1]

    def split_moves(game, text: str) -> list[str]:
        return re.findall(r"[A-Za-z]\d+-?[A-Za-z]\d+|[^\s,;]+", text)

    def draw(game, state, marks: dict[int, str]) -> str:
        planes = np.zeros(game.planes_shape, np.float32)
        game.encode(state, planes)
        kinds = ".XO" if state.ply % 2 == 0 else ".OX"
        stones = (planes[0] + 2 * planes[1]).astype(int).ravel()
        by_cell = {action % stones.size: mark for action, mark in reversed(marks.items())}
        return draw_board([kinds[stone] for stone in stones], game.columns, by_cell)
