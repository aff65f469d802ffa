"""Hex from 2x2 to 19x19, with an optional swap rule."""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import bit
from azero.compiler.jit import subroutine
from azero.compiler.rng import mix, random_below, random_pair_below
from azero.games.boards import places_by_plane
from azero.games.contract import LOSS, ONGOING, WIN, Exchange, Places, Ranges, Symmetries
from azero.games.hex import text
from azero.games.registry import game

# The board has a frame one cell wide, so that every cell has six neighbours in the arrays.
_MAX = 19
_FRAMED = (_MAX + 2) ** 2
EMPTY = 2
FRAME = 3

_FIRST_SIDE, _SECOND_SIDE = 1, 2
_JOINED = _FIRST_SIDE | _SECOND_SIDE

STATE_DTYPE = np.dtype(
    [
        ("stones", np.int8, (_FRAMED,)),  # player 0 or 1, EMPTY or FRAME; framed cell row * (size + 2) + column
        # Chains are a union-find structure. An entry is another stone of the chain, nearer to the chain's head. The
        # entry of the head is -1 - the sides that the chain touches. Entries of cells without a stone mean nothing.
        ("chain", np.int16, (_FRAMED,)),
        ("first_stones", np.uint32, (_MAX,)),  # the first player's stones: by row, bit column
        ("reached", np.uint32, (_MAX,)),  # scratch memory for rollouts
        ("key", np.uint64),  # Zobrist key of the stones
        ("ply", np.int32),
        ("is_won", np.int32),  # whether the last move won
        ("opening", np.int32),  # the action of the first move, -1 if there is none
    ],
    align=True,
)


@subroutine
def _head(state, cell):
    """Returns the head of the chain of `cell`. It halves the path to the head for later calls."""
    above = np.int64(state.chain[cell])
    while above >= 0:
        beyond = np.int64(state.chain[above])
        if beyond < 0:
            return above
        state.chain[cell] = beyond
        cell = beyond
        above = np.int64(state.chain[cell])
    return cell


@subroutine
def _put(game, state, row, column, player):
    """Puts a stone, and joins it to the chains around it; returns the sides that its chain touches, as bits."""
    width = game.size + 2
    last = game.size - 1
    cell = (row + 1) * width + column + 1
    place = row if player == 0 else column
    sides = _FIRST_SIDE * (place == 0) + _SECOND_SIDE * (place == last)
    state.stones[cell] = player
    if player == 0:
        state.first_stones[row] |= bit(column)
    state.key ^= mix(np.uint64(2 * cell + player))
    head = cell
    for neighbour in (cell - width, cell - width + 1, cell - 1, cell + 1, cell + width - 1, cell + width):
        if state.stones[neighbour] == player:
            other = _head(state, neighbour)
            if other != head:
                sides |= -1 - np.int64(state.chain[other])
                state.chain[head] = other
                head = other
    state.chain[head] = -1 - sides
    return sides


@subroutine
def _spread(reached, stones):
    """Returns the stones of a row (bits) that are connected, along the row, to a reached one: a Kogge-Stone fill."""
    reached &= stones
    left, right = stones, stones
    for step in (1, 2, 4, 8, 16):
        reached |= left & reached << step | right & reached >> step
        left &= left << step
        right &= right >> step
    return reached


@subroutine
def _joins_top_and_bottom(game, state):
    """Returns whether the first player's stones connect the top and the bottom of the board."""
    stones, reached = state.first_stones, state.reached
    last = game.size - 1
    for row in range(game.size):
        reached[row] = 0
    reached[0] = stones[0]
    is_growing = True
    while is_growing:
        is_growing = False
        for row in range(1, game.size):
            above = reached[row - 1]
            reached[row] = _spread(reached[row] | above | above >> 1, stones[row])
        if reached[last]:
            return True
        for row in range(game.size - 2, -1, -1):
            below = reached[row + 1]
            now = _spread(reached[row] | below | below << 1, stones[row])
            is_growing |= now != reached[row]
            reached[row] = now
    return False


@subroutine
def _given(stone):
    """Returns a cell's content after its stone, if any, has gone to the other player."""
    return 1 - stone if stone < EMPTY else stone


@subroutine
def _mirrored(link, width):
    """Returns an entry of `chain` in the mirror image: a framed cell, or -1 - the sides, which stay."""
    return link % width * width + link // width if link >= 0 else link


@game("hex", text)
class Hex(NamedTuple):
    """Connect your two sides: the first player top and bottom, the second left and right. There are no draws.

    Action row * size + column, written a1 (top left). Rows count from the top. With `swap` there is one more action,
    size * size, written `swap`, which the second player may play as the first move. The first stone then becomes the
    second player's, and moves to its mirror image in the long diagonal. This keeps its distances to its owner's sides.

    Source: Piet Hein (1942), John Nash (1948). The swap rule is "swap pieces" of HexGui.
    """

    size: int = 11
    swap: bool = False

    def reset(game, state):
        width = game.size + 2
        for cell in range(_FRAMED):
            row, column = cell // width, cell % width
            is_inside = 1 <= row <= game.size and 1 <= column <= game.size
            state.stones[cell] = EMPTY if is_inside else FRAME
            state.chain[cell] = -1
        for row in range(_MAX):
            state.first_stones[row] = 0
            state.reached[row] = 0
        state.key = 0
        state.ply = 0
        state.is_won = 0
        state.opening = -1

    def legal_actions(game, state, out):
        width = game.size + 2
        count = 0
        for row in range(game.size):
            for column in range(game.size):
                if state.stones[(row + 1) * width + column + 1] == EMPTY:
                    out[count] = row * game.size + column
                    count += 1
        if game.swap and state.ply == 1:
            out[count] = game.size * game.size
            count += 1
        return count

    def rollout_action(game, state, legal, rng):
        if game.swap and state.ply == 1:
            return legal[random_below(rng, game.legal_actions(state, legal))]
        while True:
            row, column = random_pair_below(rng, game.size)
            if state.stones[(row + 1) * (game.size + 2) + column + 1] == EMPTY:
                return row * game.size + column

    def rollout(game, state, legal, rng, max_plies):
        """Fills the board at random. On a full board exactly one player's sides are connected: the winner's."""
        if game.swap and state.ply == 1:
            game.apply_action(state, game.rollout_action(state, legal, rng))
        if state.is_won:
            return game.outcome(state)
        num_empty = game.legal_actions(state, legal)
        num_first = (num_empty + 1 - (state.ply & 1)) // 2
        for k in range(num_first):
            chosen = k + random_below(rng, num_empty - k)
            cell = np.uint32(legal[chosen])
            legal[chosen] = legal[k]
            state.first_stones[cell // np.uint32(game.size)] |= bit(cell % np.uint32(game.size))
        return WIN if _joins_top_and_bottom(game, state) else LOSS

    def apply_action(game, state, action):
        if action == game.size * game.size:
            opening = state.opening
            game.reset(state)
            _put(game, state, opening % game.size, opening // game.size, 1)
            state.ply = 2
            return
        if state.ply == 0:
            state.opening = action
        row, column = np.uint32(action) // np.uint32(game.size), np.uint32(action) % np.uint32(game.size)
        state.is_won = _put(game, state, np.int64(row), np.int64(column), state.ply & 1) == _JOINED
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.is_won:
            return WIN if state.ply & 1 else LOSS
        return ONGOING

    def encode(game, state, planes):
        """Planes: own stones, the opponent's, empty cells; ones if the first player moves; ones if swap is legal."""
        player = state.ply & 1
        can_swap = game.swap and state.ply == 1
        for row in range(game.size):
            for column in range(game.size):
                stone = state.stones[(row + 1) * (game.size + 2) + column + 1]
                planes[0, row, column] = stone == player
                planes[1, row, column] = stone == 1 - player
                planes[2, row, column] = stone == EMPTY
                planes[3, row, column] = 1 - player
                planes[4, row, column] = can_swap

    def hash_key(game, state):
        """Returns the Zobrist (1970) key, updated at each move, with the player to move and whether swap is legal."""
        can_swap = game.swap and state.ply == 1
        return mix(state.key + np.uint64(state.ply & 1) + np.uint64(2 * can_swap))

    def exchange_players(game, state):
        """Mirrors the stones in the long diagonal, gives each to the other player, and passes the turn.

        With `swap` there is nothing to exchange before the third move, because only the second player may swap.
        """
        if game.swap and state.ply < 2:
            return
        width = game.size + 2
        state.ply ^= 1
        state.key = 0
        for row in range(game.size):
            state.first_stones[row] = 0
            for column in range(row + 1):
                here, there = (row + 1) * width + column + 1, (column + 1) * width + row + 1
                stone, link = np.int64(state.stones[here]), np.int64(state.chain[here])
                state.stones[here] = _given(np.int64(state.stones[there]))
                state.chain[here] = _mirrored(np.int64(state.chain[there]), width)
                state.stones[there], state.chain[there] = _given(stone), _mirrored(link, width)
        for row in range(game.size):
            for column in range(game.size):
                cell = (row + 1) * width + column + 1
                player = np.int64(state.stones[cell])
                if player != EMPTY:
                    state.key ^= mix(np.uint64(2 * cell + player))
                if player == 0:
                    state.first_stones[row] |= bit(column)

    def ranges(game) -> Ranges:
        return {"size": (2, _MAX)}

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return game.size**2 + game.swap

    @property
    def max_plies(game) -> int:
        return game.size**2 + game.swap

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 5, game.size, game.size

    def symmetries(game) -> Symmetries:
        """Returns the identity and the rotation by 180 degrees."""
        cells = np.arange(game.size**2, dtype=np.int32)
        cells = np.stack([cells, cells[::-1]])
        swap = np.full((2, int(game.swap)), game.size**2, np.int32)
        return Symmetries(cells=cells, actions=np.hstack([cells, swap]))

    def exchange(game) -> Exchange:
        """Returns the mirror image in the long diagonal."""
        cells = np.arange(game.size**2, dtype=np.int32).reshape(game.size, game.size).T.ravel()
        return Exchange(cells, np.append(cells, np.full(int(game.swap), game.size**2, np.int32)))

    def places(game) -> Places:
        return places_by_plane(game.size, game.size, slots=int(game.swap))
