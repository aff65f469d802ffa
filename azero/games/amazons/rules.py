"""Amazons (the Game of the Amazons), from 4x4 to 10x10."""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE, ZERO, bit, has_bit, lowest_bit
from azero.compiler.rng import mix, random_below
from azero.games.amazons import text
from azero.games.amazons.board import (
    DIAGONALS,
    DOWN,
    FRAMED,
    FROM,
    LONGEST,
    RIGHT,
    SHOT,
    STATE_DTYPE,
    TO,
    can_move,
    is_blocked,
    measure_reach,
    toggle,
    word_of,
)
from azero.games.boards import places_by_plane
from azero.games.contract import LOSS, ONGOING, WIN, Places, Ranges, Symmetries
from azero.games.registry import game


@game("amazons", text)
class Amazons(NamedTuple):
    """Move an amazon like a chess queen, then shoot an arrow from her new cell. A player who cannot move has lost.

    A move is three actions of one player: the amazon's cell, `cells` + her new cell, `2 * cells` + the arrow's cell.
    Cells count by rows from the top left, and `cells` is their number. The actions are written `d1`, `-d7` and `/g7`,
    the whole move `d1-d7/g7`. Each player has four amazons, a third of a side away from the corners. The first
    player's are at the bottom.

    Source: Walter Zamkauskas (1988).
    """

    rows: int = 10
    columns: int = 10

    def reset(game, state):
        for line in range(FRAMED):
            state.rows[line] = 0
            state.columns[line] = 0
        for line in range(DIAGONALS):
            state.falling[line] = 0
            state.rising[line] = 0
        for row in range(game.rows + 2):
            for column in range(game.columns + 2):
                if row == 0 or row == game.rows + 1 or column == 0 or column == game.columns + 1:
                    toggle(state, row, column)
        down, right = 1 + (game.rows - 1) // 3, 1 + (game.columns - 1) // 3
        for player in range(2):
            for k in range(4):
                row, column = (1, right) if k < 2 else (down, 1)
                if k % 2 == 1:
                    column = game.columns + 1 - column
                if player == 0:
                    row = game.rows + 1 - row
                state.amazons[player, k, 0] = row
                state.amazons[player, k, 1] = column
                toggle(state, row, column)
        state.phase = FROM
        state.player = 0
        state.moved = 0
        state.key = 0
        state.ply = 0
        state.is_over = is_blocked(state, 0)

    def legal_actions(game, state, out):
        cells = game.rows * game.columns
        count = 0
        if state.phase == FROM:
            for k in range(4):
                row, column = np.int64(state.amazons[state.player, k, 0]), np.int64(state.amazons[state.player, k, 1])
                if can_move(state, row, column):
                    place = count
                    action = (row - 1) * game.columns + column - 1
                    while place > 0 and out[place - 1] > action:
                        out[place] = out[place - 1]
                        place -= 1
                    out[place] = action
                    count += 1
            return count
        row = np.int64(state.amazons[state.player, state.moved, 0])
        column = np.int64(state.amazons[state.player, state.moved, 1])
        first, second = ZERO, ZERO  # the reachable cells as bits: cells 0 to 63, and cells from 64 on
        measure_reach(state, row, column, out)
        for direction in range(8):
            cell = (row - 1) * game.columns + column - 1
            for _ in range(out[direction]):
                cell += DOWN[direction] * game.columns + RIGHT[direction]
                if cell < 64:
                    first |= bit(cell)
                else:
                    second |= bit(cell - 64)
        base = state.phase * cells
        while first:
            out[count] = base + lowest_bit(first)
            first &= first - ONE
            count += 1
        while second:
            out[count] = base + 64 + lowest_bit(second)
            second &= second - ONE
            count += 1
        return count

    def rollout_action(game, state, legal, rng):
        if state.phase == FROM:
            while True:
                k = random_below(rng, 4)
                row, column = np.int64(state.amazons[state.player, k, 0]), np.int64(state.amazons[state.player, k, 1])
                if can_move(state, row, column):
                    return (row - 1) * game.columns + column - 1
        row = np.int64(state.amazons[state.player, state.moved, 0])
        column = np.int64(state.amazons[state.player, state.moved, 1])
        rank = random_below(rng, measure_reach(state, row, column, legal))
        direction = 0
        before = 0
        counted = 0
        for k in range(8):  # without branches, which would be mispredicted half the time
            counted += legal[k]
            direction += rank >= counted
            before = counted if rank >= counted else before
        row += DOWN[direction] * (rank - before + 1)
        column += RIGHT[direction] * (rank - before + 1)
        return (state.phase * game.rows + row - 1) * game.columns + column - 1

    def apply_action(game, state, action):
        player = np.int64(state.player)
        cell = np.uint32(action - state.phase * game.rows * game.columns)
        row = np.int64(cell // np.uint32(game.columns)) + 1
        column = np.int64(cell % np.uint32(game.columns)) + 1
        state.ply += 1
        if state.phase == FROM:
            moved = 0
            for k in range(1, 4):
                moved += k * (state.amazons[player, k, 0] == row and state.amazons[player, k, 1] == column)
            state.moved = moved
            toggle(state, row, column)
            state.phase = TO
        elif state.phase == TO:
            mine = state.amazons[player, state.moved]
            state.key ^= word_of(player, np.int64(mine[0]), np.int64(mine[1])) ^ word_of(player, row, column)
            mine[0] = row
            mine[1] = column
            state.phase = SHOT
        else:
            toggle(
                state, np.int64(state.amazons[player, state.moved, 0]), np.int64(state.amazons[player, state.moved, 1])
            )
            toggle(state, row, column)
            state.key ^= word_of(2, row, column)
            state.phase = FROM
            state.player = 1 - player
            state.is_over = is_blocked(state, 1 - player)

    def current_player(game, state):
        return np.int64(state.player)

    def outcome(game, state):
        if not state.is_over:
            return ONGOING
        return WIN if state.player == 1 else LOSS

    def encode(game, state, planes):
        """Planes, top row first: own amazons, theirs, arrows, empty cells, the moving amazon; ones in TO, in SHOT."""
        for row in range(game.rows):
            for column in range(game.columns):
                is_taken = has_bit(state.rows[row + 1], column + 1)
                planes[0, row, column] = 0
                planes[1, row, column] = 0
                planes[2, row, column] = is_taken
                planes[3, row, column] = ONE - is_taken
                planes[4, row, column] = 0
                planes[5, row, column] = state.phase == TO
                planes[6, row, column] = state.phase == SHOT
        for player in range(2):
            for k in range(4):
                row, column = state.amazons[player, k, 0] - 1, state.amazons[player, k, 1] - 1
                planes[0 if player == state.player else 1, row, column] = 1
                planes[2, row, column] = 0
                planes[3, row, column] = 0
        if state.phase != FROM:
            mine = state.amazons[state.player, state.moved]
            planes[4, mine[0] - 1, mine[1] - 1] = 1

    def target(game, state, action):
        """Returns the cell that the action names: the amazon's, her new one, or the arrow's."""
        return action % (game.rows * game.columns)

    def hash_key(game, state):
        """Returns the Zobrist (1970) key, updated at each action, with the player, the phase and the moving amazon."""
        key = state.key + np.uint64(state.player) + np.uint64(2 * state.phase)
        if state.phase != FROM:
            mine = state.amazons[state.player, state.moved]
            key ^= word_of(3, np.int64(mine[0]), np.int64(mine[1]))
        return mix(key)

    def ranges(game) -> Ranges:
        return {"rows": (4, LONGEST), "columns": (4, LONGEST)}

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return 3 * game.rows * game.columns

    @property
    def max_plies(game) -> int:
        """Each move takes three plies and leaves an arrow. Eight cells have amazons."""
        return 3 * (game.rows * game.columns - 8)

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 7, game.rows, game.columns

    def symmetries(game) -> Symmetries:
        """Returns the identity and the left-right mirror image."""
        board = np.arange(game.rows * game.columns, dtype=np.int32).reshape(game.rows, game.columns)
        cells = np.stack([board.ravel(), board[:, ::-1].ravel()])
        return Symmetries(cells=cells, actions=np.hstack([cells + phase * board.size for phase in range(3)]))

    def places(game) -> Places:
        return places_by_plane(game.rows, game.columns, planes=3)
