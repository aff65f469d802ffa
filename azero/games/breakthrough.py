"""Breakthrough on bitboards, any rectangle from 3x2 to 10x10."""

import re
from typing import NamedTuple

import numpy as np

from azero.bits import bit_of_rank, count_bits, lowest_bit
from azero.errors import BadInput
from azero.games.boards import cell_to_text, draw_board, step_symmetries, text_to_cell
from azero.games.contract import LOSS, ONGOING, WIN, Ranges, Symmetries
from azero.games.registry import game
from azero.jit import subroutine
from azero.rng import mix, random_below

# Two words of five rows each. A row takes eleven bits, one more than the widest board, so that nothing steps over its
# end into the next row.
_STRIDE = 11
_ROWS = 5
_OVER = np.uint64(_STRIDE * (_ROWS - 1))
_WORD = np.uint64((1 << _STRIDE * _ROWS) - 1)
_ONE = np.uint64(1)

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
def _columns(game):
    """Returns the columns of half a board as a mask."""
    row = (_ONE << np.uint64(game.columns)) - _ONE
    mask = np.uint64(0)
    for k in range(_ROWS):
        mask |= row << np.uint64(_STRIDE * k)
    return mask


@subroutine
def _movers(game, state, half, step):
    """Returns the stones of the player to move, in half a board, that can make a step."""
    player = state.ply & 1
    blocked_here, blocked_there = state.stones[player, half], state.stones[player, 1 - half]
    if step == 1:  # straight ahead nothing can be taken
        blocked_here = blocked_here | state.stones[1 - player, half]
        blocked_there = blocked_there | state.stones[1 - player, 1 - half]
    free, free_there = ~blocked_here & _columns(game), ~blocked_there & _columns(game)
    if player == 0:
        ahead = free >> np.uint64(_STRIDE)
        if half == 0:
            ahead |= free_there << _OVER & _WORD
    else:
        ahead = free << np.uint64(_STRIDE) & _WORD
        if half == 1:
            ahead |= free_there >> _OVER
    if step == 0:
        ahead = ahead << _ONE
    elif step == 2:
        ahead = ahead >> _ONE
    return state.stones[player, half] & ahead


@game("breakthrough")
class Breakthrough(NamedTuple):
    """Stones step forward, and take on the diagonal; the first on the last row wins, or who takes all.

    Actions are as the mover sees the board, the enemy's home on top: `step * cells + cell`, the steps forward left,
    straight and right, a stone's cell counted by rows from the top left; for the second player the rows are turned
    over, the columns are not. Written `a2-a3`, `b4xa3`. Boards of six rows or more begin with two rows of stones
    a side, lower ones with one.

    Source: Dan Troyka, Breakthrough (2000); the lower boards as in OpenSpiel.
    """

    rows: int = 8
    columns: int = 8

    def reset(game, state):
        for player in range(2):
            for half in range(2):
                state.stones[player, half] = np.uint64(0)
        line = (_ONE << np.uint64(game.columns)) - _ONE
        for k in range(2 if game.rows >= 6 else 1):
            state.stones[0, 0] |= line << np.uint64(_STRIDE * k)
            row = game.rows - 1 - k
            state.stones[1, row // _ROWS] |= line << np.uint64(_STRIDE * (row % _ROWS))
        state.ply = 0
        state.is_won = 0

    def legal_actions(game, state, out):
        player = state.ply & 1
        line = (_ONE << np.uint64(game.columns)) - _ONE
        count = 0
        for step in range(3):
            movers = _movers(game, state, 0, step), _movers(game, state, 1, step)
            for seen_row in range(game.rows):
                row = seen_row if player == 1 else game.rows - 1 - seen_row
                half = movers[1] if row >= _ROWS else movers[0]
                stones = half >> np.uint64(_STRIDE * (row % _ROWS)) & line
                while stones:
                    out[count] = (step * game.rows + seen_row) * game.columns + lowest_bit(stones)
                    count += 1
                    stones &= stones - _ONE
        return count

    def rollout_action(game, state, legal, rng):
        player = state.ply & 1
        total = 0
        for step in range(3):
            for half in range(2):
                total += count_bits(_movers(game, state, half, step))
        rank = random_below(rng, total)
        for step in range(3):
            for half in range(2):
                movers = _movers(game, state, half, step)
                count = count_bits(movers)
                if rank < count:
                    place = bit_of_rank(movers, rank)
                    row = place // _STRIDE + _ROWS * half
                    seen_row = row if player == 1 else game.rows - 1 - row
                    return (step * game.rows + seen_row) * game.columns + place % _STRIDE
                rank -= count
        return -1

    def apply_action(game, state, action):
        player = state.ply & 1
        cells = game.rows * game.columns
        step, cell = action // cells, action % cells
        seen_row, column = cell // game.columns, cell % game.columns
        row = seen_row if player == 1 else game.rows - 1 - seen_row
        state.stones[player, row // _ROWS] ^= _ONE << np.uint64(_STRIDE * (row % _ROWS) + column)
        row += 1 - 2 * player
        target = _ONE << np.uint64(_STRIDE * (row % _ROWS) + column + step - 1)
        state.stones[player, row // _ROWS] |= target
        state.stones[1 - player, row // _ROWS] &= ~target
        state.ply += 1
        has_none_left = not (state.stones[1 - player, 0] | state.stones[1 - player, 1])
        if has_none_left or row == (game.rows - 1 if player == 0 else 0):
            state.is_won = 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        """There is always a move: the foremost stone of either side can go to a diagonal ahead of it."""
        if state.is_won:
            return WIN if state.ply & 1 else LOSS
        return ONGOING

    def encode(game, state, planes):
        """Planes, the enemy's home on top: own stones, the opponent's, empty cells."""
        player = state.ply & 1
        for seen_row in range(game.rows):
            row = seen_row if player == 1 else game.rows - 1 - seen_row
            for column in range(game.columns):
                place = np.uint64(_STRIDE * (row % _ROWS) + column)
                is_own = state.stones[player, row // _ROWS] >> place & _ONE
                is_theirs = state.stones[1 - player, row // _ROWS] >> place & _ONE
                planes[0, seen_row, column] = is_own
                planes[1, seen_row, column] = is_theirs
                planes[2, seen_row, column] = _ONE - (is_own | is_theirs)

    def target(game, state, action):
        """Returns the cell that is stepped on, as the mover sees the board."""
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
        """Every ply brings a stone a row nearer to the end."""
        rows_to_go = game.rows - 1 + (game.rows - 2 if game.rows >= 6 else 0)
        return 2 * game.columns * rows_to_go

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, game.rows, game.columns

    def symmetries(game) -> Symmetries:
        """The board and its mirror image."""
        board = np.arange(game.rows * game.columns, dtype=np.int32).reshape(game.rows, game.columns)
        cells = np.stack([board.ravel(), board[:, ::-1].ravel()])
        return Symmetries(cells=cells, actions=step_symmetries(cells, game.rows, game.columns, STEPS))

    def action_to_text(game, state, action: int) -> str:
        step, cell = divmod(action, game.rows * game.columns)
        seen_row, column = divmod(cell, game.columns)
        is_second = bool(state.ply & 1)
        start = cell_to_text(seen_row, column, game.rows, is_top_first=is_second)
        end = cell_to_text(seen_row - 1, column + step - 1, game.rows, is_top_first=is_second)
        row = seen_row - 1 if is_second else game.rows - seen_row
        place = np.uint64(_STRIDE * (row % _ROWS) + column + step - 1)
        is_taking = state.stones[1 - is_second, row // _ROWS] >> place & _ONE
        return f"{start}{'x' if is_taking else '-'}{end}"

    def text_to_action(game, state, text: str) -> int:
        match = re.fullmatch(r"([a-z]\d+)[-x]?([a-z]\d+)", text.lower(), re.ASCII)
        is_second = bool(state.ply & 1)
        start, end = (
            (text_to_cell(part, game.rows, game.columns, is_top_first=is_second) for part in match.groups())
            if match
            else (None, None)
        )
        step = (end[0] - start[0], end[1] - start[1]) if start and end else None
        if start is None or step not in STEPS:
            raise BadInput(f"{text!r} is no breakthrough move here; moves go forward, e.g. a2-a3, b4xa3")
        return (STEPS.index(step) * game.rows + start[0]) * game.columns + start[1]

    def split_moves(game, text: str) -> list[str]:
        return re.findall(r"[A-Za-z]\d+[-x]?[A-Za-z]\d+|[^\s,;]+", text)

    def draw(game, state, marks: dict[int, str]) -> str:
        """The first player's home at the bottom."""

        def stone(row: int, column: int) -> str:
            place = np.uint64(_STRIDE * (row % _ROWS) + column)
            return next((kind for k, kind in enumerate("XO") if state.stones[k, row // _ROWS] >> place & _ONE), ".")

        board = [stone(row, column) for row in reversed(range(game.rows)) for column in range(game.columns)]
        by_cell = {}
        for action, mark in reversed(marks.items()):
            seen_row, column = divmod(action % (game.rows * game.columns), game.columns)
            row_from_top = game.rows - 1 - seen_row if state.ply & 1 else seen_row
            by_cell[row_from_top * game.columns + column] = mark
        return draw_board(board, game.columns, by_cell)
