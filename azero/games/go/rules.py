"""Go from 2x2 to 19x19: area scoring, positional superko, and random games that do not fill eyes."""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import subroutine
from azero.compiler.rng import mix
from azero.games.boards import board_symmetries, places_by_plane
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Places, Ranges, Symmetries
from azero.games.go import text
from azero.games.go.area import area_lead, write_owners
from azero.games.go.board import (
    EMPTY,
    FRAME,
    add_empty,
    breathes,
    draw_point,
    has_empty_neighbour,
    key_after,
    put_stone,
    state_dtype_of,
)
from azero.games.registry import game


@subroutine
def _limit(game):
    return game.max_game_length if game.max_game_length > 0 else 3 * game.size * game.size


@subroutine
def _is_over(game, state):
    return state.passes >= 2 or state.ply >= _limit(game)


@subroutine
def _point_of(game, action):
    row, column = np.uint32(action) // np.uint32(game.size), np.uint32(action) % np.uint32(game.size)
    return (np.int64(row) + 1) * (game.size + 1) + np.int64(column) + 1


@subroutine
def _action_of(game, point):
    row, column = np.uint32(point) // np.uint32(game.size + 1), np.uint32(point) % np.uint32(game.size + 1)
    return (np.int64(row) - 1) * game.size + np.int64(column) - 1


@subroutine
def _is_legal(game, state, point, player):
    """Returns whether the player may put a stone on an empty point."""
    stride = game.size + 1
    is_breathing = has_empty_neighbour(state, point, stride) or breathes(state, point, stride, player)
    if not is_breathing and not game.suicide:
        return False
    if point == state.ko:
        return False
    if not game.superko:
        return True
    # A move can repeat an earlier board only if that board had this stone here, which was removed later.
    if is_breathing and not state.taken[point] >> player & 1:
        return True
    key = key_after(state, point, stride, player, is_breathing)
    is_new = True
    for ply in range(state.ply + 1):
        is_new &= state.history[ply] != key
    return is_new


@game("go", text)
class Go(NamedTuple):
    """Surround the larger area. Action row * size + column, written a1 (bottom left; no column i), or pass.

    Rows of actions count from the top. The pass is action size * size.

    The area of a colour is its stones, and the empty points that only this colour reaches. White also gets `komi`. The
    game ends after two passes in a row, or after `max_game_length` plies (0: three times the number of points). The
    board is scored as it stands: dead stones are not removed.

    With `superko`, no move may repeat an earlier board, whoever made that board (positional superko). Without it, only
    simple ko is forbidden. With `suicide`, a move may leave its own chain without liberties, which is then removed.

    Random games follow the reference specification of the computer-go list (Dailey 2008), with simple ko. They play
    any legal move that is neither suicide nor fills an eye of one point. They pass only if there is no such move. An
    eye is an empty point whose neighbours are all own stones or the edge. At most one of its diagonal points has an
    enemy stone, and none if the point is at the edge.

    Source: Tromp & Taylor, The logical rules of Go; Dailey (2008).
    """

    size: int = 9
    komi: float = 7.5
    superko: bool = True
    suicide: bool = False
    max_game_length: int = 0

    def reset(game, state):
        stride = game.size + 1
        for point in range(len(state.stones)):
            state.stones[point] = FRAME
            state.head[point] = 0
            state.next[point] = 0
            state.liberties[point] = 0
            state.place[point] = 0
            state.taken[point] = 0
            state.reach[point] = 0
        for ply in range(len(state.history)):
            state.history[ply] = 0
        for place in range(len(state.empties)):
            state.empties[place] = 0
        state.num_empties = 0
        for row in range(1, game.size + 1):
            for column in range(1, game.size + 1):
                add_empty(state, row * stride + column)
        state.board_key = 0
        state.ko = 0
        state.passes = 0
        state.ply = 0

    def legal_actions(game, state, out):
        player = state.ply & 1
        count = 0
        for row in range(game.size):
            for column in range(game.size):
                point = (row + 1) * (game.size + 1) + column + 1
                if state.stones[point] == EMPTY and _is_legal(game, state, point, player):
                    out[count] = row * game.size + column
                    count += 1
        out[count] = game.size * game.size
        return count + 1

    def rollout_action(game, state, legal, rng):
        point = draw_point(state, game.size + 1, rng)
        return game.size * game.size if point == 0 else _action_of(game, point)

    def rollout(game, state, legal, rng, max_plies):
        """Plays points instead of actions, and keeps no history, which is faster."""
        while not _is_over(game, state):
            point = draw_point(state, game.size + 1, rng)
            if point == 0:
                state.passes += 1
                state.ko = 0
            else:
                state.passes = 0
                put_stone(state, point, game.size + 1, state.ply & 1)
            state.ply += 1
        return game.outcome(state)

    def apply_action(game, state, action):
        player = state.ply & 1
        state.ply += 1
        if action == game.size * game.size:
            state.passes += 1
            state.ko = 0
        else:
            state.passes = 0
            put_stone(state, _point_of(game, action), game.size + 1, player)
        state.history[state.ply] = state.board_key

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if not _is_over(game, state):
            return ONGOING
        lead = game.final_score(state)
        return WIN if lead > 0 else LOSS if lead < 0 else DRAW

    def final_score(game, state):
        """Returns Black's area minus White's minus komi, in points, for the board as it stands."""
        return area_lead(state, game.size) - game.komi

    def ownership(game, state, owners):
        """Writes the owner of each point by area, for the board as it stands."""
        write_owners(state, game.size, owners)

    def encode(game, state, planes):
        """Planes, top row first: own stones, theirs, empty points, the ko; ones if Black moves; ones after a pass."""
        player = state.ply & 1
        for row in range(game.size):
            for column in range(game.size):
                point = (row + 1) * (game.size + 1) + column + 1
                planes[0, row, column] = state.stones[point] == player
                planes[1, row, column] = state.stones[point] == 1 - player
                planes[2, row, column] = state.stones[point] == EMPTY
                planes[3, row, column] = state.ko == point
                planes[4, row, column] = 1 - player
                planes[5, row, column] = state.passes > 0

    def hash_key(game, state):
        """Returns a key of the board, the ko, the player to move, whether a pass was last and whether the game is over.

        The key does not depend on the history.
        """
        rest = np.uint64(8 * state.ko + 4 * (state.passes > 0) + 2 * _is_over(game, state) + (state.ply & 1))
        return mix(state.board_key ^ mix(rest))

    def ranges(game) -> Ranges:
        return {"size": (2, 19), "komi": (-361, 361), "max_game_length": (0, 100_000)}

    @property
    def state_dtype(game) -> np.dtype:
        """The dtype is the same for sizes up to 9, up to 13 and up to 19, so that few compilations serve all sizes."""
        size = next(size for size in (9, 13, 19) if game.size <= size)
        return state_dtype_of(size, max(3 * size**2, game.max_plies))

    @property
    def num_actions(game) -> int:
        return game.size**2 + 1

    @property
    def max_plies(game) -> int:
        return game.max_game_length or 3 * game.size**2

    @property
    def is_history_free(game) -> bool:
        """False: superko depends on earlier boards, and the limit of plies on the length of the game."""
        return False

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 6, game.size, game.size

    def symmetries(game) -> Symmetries:
        cells = board_symmetries(game.size, game.size)
        passes = np.full((len(cells), 1), game.size**2, np.int32)
        return Symmetries(cells=cells, actions=np.hstack([cells, passes]))

    def places(game) -> Places:
        return places_by_plane(game.size, game.size, slots=1)
