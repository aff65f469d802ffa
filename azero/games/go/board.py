"""Stones on a Go board: chains and their liberties, captures, keys and eyes. `rules.py` decides what is legal."""

import numpy as np

from azero.compiler.bits import ZERO
from azero.compiler.jit import subroutine
from azero.compiler.rng import mix, random_below

BLACK, WHITE, EMPTY, FRAME = range(4)


def state_dtype_of(size: int, max_plies: int) -> np.dtype:
    """Returns the dtype of a state for boards up to `size` and games up to `max_plies`.

    Points are numbered by rows of the board's size + 1, with a frame around the board. A chain is identified by one of
    its stones, the head. Liberties are pseudo-liberties: an empty point counts once for each stone of the chain that
    touches it. They are fast to update, and zero exactly if the chain has no liberty.
    """
    points = (size + 2) * (size + 1) + 1
    return np.dtype(
        [
            ("history", np.uint64, (max_plies + 1,)),  # board keys of the plies so far
            ("board_key", np.uint64),  # Zobrist key of the stones
            ("head", np.int16, (points,)),  # head of each stone's chain
            ("next", np.int16, (points,)),  # next stone of the chain, in a cycle
            ("liberties", np.int16, (points,)),  # pseudo-liberties of each chain, at its head
            ("empties", np.int16, (size * size,)),  # the empty points, in any order
            ("place", np.int16, (points,)),  # index of each empty point in `empties`
            ("stones", np.int8, (points,)),  # BLACK, WHITE, EMPTY or FRAME
            ("taken", np.int8, (points,)),  # bit c: whether a stone of colour c was ever removed from here
            ("reach", np.int8, (points,)),  # scratch memory for scoring; zero between uses
            ("num_empties", np.int32),
            ("ko", np.int32),  # the point that simple ko forbids, or 0
            ("passes", np.int32),  # consecutive passes just before
            ("ply", np.int32),
        ],
        align=True,
    )


@subroutine
def _word(point, colour):
    """Returns the random word (uint64) of a stone, for Zobrist (1970) keys."""
    return mix(np.uint64(2 * point + colour))


@subroutine
def _touch(state, point, stride, change):
    """Adds `change` to the liberties of the chains around a point, once for each stone that touches it."""
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        if state.stones[neighbour] < EMPTY:
            state.liberties[state.head[neighbour]] += change


@subroutine
def has_empty_neighbour(state, point, stride):
    """Returns whether a point has an empty neighbour."""
    stones = state.stones
    return (
        (stones[point - stride] == EMPTY)
        | (stones[point - 1] == EMPTY)
        | (stones[point + 1] == EMPTY)
        | (stones[point + stride] == EMPTY)
    )


@subroutine
def breathes(state, point, stride, player):
    """Returns whether a stone on a point without empty neighbours would have liberties: it is not suicide.

    It captures enemy stones, or joins a chain that has other liberties.
    """
    _touch(state, point, stride, -1)
    is_breathing = False
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        colour = state.stones[neighbour]
        if colour < EMPTY:
            has_liberties = state.liberties[state.head[neighbour]] > 0
            is_breathing |= has_liberties == (colour == player)
    _touch(state, point, stride, 1)
    return is_breathing


@subroutine
def _chain_word(state, head):
    """Returns the Zobrist key of a chain's stones."""
    colour = state.stones[head]
    word = _word(head, colour)
    stone = np.int64(state.next[head])
    while stone != head:
        word ^= _word(stone, colour)
        stone = np.int64(state.next[stone])
    return word


@subroutine
def _airless_word(state, point, stride, colour):
    """Returns the Zobrist key of those chains of a colour around a point that have no liberties."""
    word = ZERO
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        if state.stones[neighbour] == colour and state.liberties[state.head[neighbour]] == 0:
            word ^= _chain_word(state, np.int64(state.head[neighbour]))
            state.liberties[state.head[neighbour]] = -1  # marks the chain as counted
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        if state.stones[neighbour] == colour and state.liberties[state.head[neighbour]] == -1:
            state.liberties[state.head[neighbour]] = 0
    return word


@subroutine
def key_after(state, point, stride, player, is_breathing):
    """Returns the Zobrist key of the board after a move. Without `is_breathing` the move is suicide."""
    _touch(state, point, stride, -1)
    if is_breathing:
        key = _word(point, player) ^ _airless_word(state, point, stride, 1 - player)
    else:
        key = _airless_word(state, point, stride, player)
    _touch(state, point, stride, 1)
    return state.board_key ^ key


@subroutine
def _is_eye(state, point, stride, player):
    """Returns whether a point without empty neighbours is an eye, which random games do not fill. See `Go`."""
    stones = state.stones
    enemy = 1 - player
    num_diagonal = 0
    is_at_edge = False
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        if stones[neighbour] == enemy:
            return False
        is_at_edge |= stones[neighbour] == FRAME
    for diagonal in (point - stride - 1, point - stride + 1, point + stride - 1, point + stride + 1):
        num_diagonal += stones[diagonal] == enemy
    return num_diagonal + is_at_edge < 2


@subroutine
def add_empty(state, point):
    """Makes a point empty."""
    state.stones[point] = EMPTY
    state.empties[state.num_empties] = point
    state.place[point] = state.num_empties
    state.num_empties += 1


@subroutine
def _take_chain(state, head, stride):
    """Removes a chain from the board; returns the number of its stones."""
    colour = np.int64(state.stones[head])
    stone = head
    count = 0
    while True:
        add_empty(state, stone)
        state.board_key ^= _word(stone, colour)
        state.taken[stone] |= 1 << colour
        _touch(state, stone, stride, 1)
        count += 1
        stone = np.int64(state.next[stone])
        if stone == head:
            return count


@subroutine
def _join(state, point, other):
    """Joins the chains of two stones. The head of the second chain becomes the head of both."""
    old, new = np.int64(state.head[point]), np.int64(state.head[other])
    state.liberties[new] += state.liberties[old]
    stone = old
    while True:
        state.head[stone] = new
        stone = np.int64(state.next[stone])
        if stone == old:
            break
    state.next[old], state.next[new] = state.next[new], state.next[old]


@subroutine
def put_stone(state, point, stride, player):
    """Puts a stone, removes the chains that have no liberties left, and sets the ko point."""
    stones = state.stones
    state.num_empties -= 1
    last, place = state.empties[state.num_empties], state.place[point]
    state.empties[place] = last
    state.place[last] = place
    stones[point] = player
    state.board_key ^= _word(point, player)
    state.head[point] = point
    state.next[point] = point
    state.liberties[point] = 0
    _touch(state, point, stride, -1)
    num_taken = 0
    taken = 0
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        colour = stones[neighbour]
        if colour == EMPTY:
            state.liberties[state.head[point]] += 1
        elif colour == player and state.head[neighbour] != state.head[point]:
            _join(state, point, neighbour)
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        if stones[neighbour] == 1 - player and state.liberties[state.head[neighbour]] == 0:
            num_taken += _take_chain(state, np.int64(state.head[neighbour]), stride)
            taken = neighbour
    liberties = state.liberties[state.head[point]]
    state.ko = taken if num_taken == 1 and liberties == 1 and state.next[point] == point else 0
    if liberties == 0:
        _take_chain(state, point, stride)


@subroutine
def draw_point(state, stride, rng):
    """Returns a random point among those that random games may play on, or 0 if there is none.

    It tries the empty points in random order, and moves refused points to the end of `empties`.
    """
    player = state.ply & 1
    num_left = np.int64(state.num_empties)
    while num_left > 0:
        k = random_below(rng, num_left)
        point = np.int64(state.empties[k])
        if has_empty_neighbour(state, point, stride):
            return point
        is_refused = point == state.ko or _is_eye(state, point, stride, player)
        if not is_refused and breathes(state, point, stride, player):
            return point
        num_left -= 1
        other = state.empties[num_left]
        state.empties[k] = other
        state.place[other] = k
        state.empties[num_left] = point
        state.place[point] = num_left
    return 0
