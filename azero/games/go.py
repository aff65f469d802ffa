"""Go, from 2x2 to 19x19: area scoring, positional superko, and random games that fill no eyes."""

from typing import NamedTuple

import numpy as np

from azero.errors import BadInput
from azero.games.boards import (
    GO_LETTERS,
    board_symmetries,
    cell_to_text,
    check_sizes,
    draw_board,
    split_cells,
    text_to_cell,
)
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Symmetries
from azero.games.registry import game
from azero.jit import subroutine
from azero.rng import mix, random_below

BLACK, WHITE, EMPTY, FRAME = range(4)


def state_dtype_of(size: int, max_plies: int) -> np.dtype:
    """Returns the dtype of a state on a board of up to `size`, in a game of up to `max_plies`.

    Points are numbered by rows of size + 1, with a frame around the board; a chain goes by the number of one of its
    stones, its head. Liberties are counted once for each stone that touches them (pseudo-liberties), which is quick
    to keep, and zero when there is none.
    """
    points = (size + 2) * (size + 1) + 1
    return np.dtype(
        [
            ("history", np.uint64, (max_plies + 1,)),  # keys of the boards up to now, by ply
            ("board_key", np.uint64),  # of the stones alone
            ("head", np.int16, (points,)),  # of the chain of each stone
            ("next", np.int16, (points,)),  # the next stone of the chain, in a circle
            ("liberties", np.int16, (points,)),  # pseudo-liberties of the chain, at its head
            ("empties", np.int16, (size * size,)),  # the empty points, in any order
            ("place", np.int16, (points,)),  # where each empty point stands among them
            ("stones", np.int8, (points,)),  # BLACK, WHITE, EMPTY or FRAME
            ("taken", np.int8, (points,)),  # bits: whether a stone of each colour was ever taken from there
            ("reach", np.int8, (points,)),  # room for scoring
            ("num_empties", np.int32),
            ("ko", np.int32),  # the point that simple ko forbids, or 0
            ("passes", np.int32),  # in a row, until now
            ("ply", np.int32),
        ],
        align=True,
    )


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
def _word(point, colour):
    """Returns the random word of a stone, for keys (Zobrist 1970)."""
    return mix(np.uint64(2 * point + colour))


@subroutine
def _touch(state, point, stride, change):
    """Changes the liberties of the chains around a point, once for each stone that touches it."""
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        if state.stones[neighbour] < EMPTY:
            state.liberties[state.head[neighbour]] += change


@subroutine
def _has_empty_neighbour(state, point, stride):
    stones = state.stones
    return (
        (stones[point - stride] == EMPTY)
        | (stones[point - 1] == EMPTY)
        | (stones[point + 1] == EMPTY)
        | (stones[point + stride] == EMPTY)
    )


@subroutine
def _breathes(state, point, stride, player):
    """Returns whether a stone on a point without empty neighbours would take enemies, or join a chain that lives."""
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
    """Returns the key of a chain's stones."""
    colour = state.stones[head]
    word = _word(head, colour)
    stone = np.int64(state.next[head])
    while stone != head:
        word ^= _word(stone, colour)
        stone = np.int64(state.next[stone])
    return word


@subroutine
def _airless_word(state, point, stride, colour):
    """Returns the key of the chains of a colour beside a point that have no liberties."""
    word = np.uint64(0)
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        if state.stones[neighbour] == colour and state.liberties[state.head[neighbour]] == 0:
            word ^= _chain_word(state, np.int64(state.head[neighbour]))
            state.liberties[state.head[neighbour]] = -1  # counted
    for neighbour in (point - stride, point - 1, point + 1, point + stride):
        if state.stones[neighbour] == colour and state.liberties[state.head[neighbour]] == -1:
            state.liberties[state.head[neighbour]] = 0
    return word


@subroutine
def _key_after(state, point, stride, player, is_breathing):
    """Returns the key of the board after a move; one that does not breathe is suicide."""
    _touch(state, point, stride, -1)
    if is_breathing:
        key = _word(point, player) ^ _airless_word(state, point, stride, 1 - player)
    else:
        key = _airless_word(state, point, stride, player)
    _touch(state, point, stride, 1)
    return state.board_key ^ key


@subroutine
def _is_legal(game, state, point, player):
    """Returns whether the player may put a stone on an empty point."""
    stride = game.size + 1
    is_breathing = _has_empty_neighbour(state, point, stride) or _breathes(state, point, stride, player)
    if not is_breathing and not game.suicide:
        return False
    if not game.superko:
        return point != state.ko
    # A board that was there before had this stone on this point; so one has been taken from there since.
    if is_breathing and not state.taken[point] >> player & 1:
        return True
    key = _key_after(state, point, stride, player, is_breathing)
    is_new = True
    for ply in range(state.ply + 1):
        is_new &= state.history[ply] != key
    return is_new


@subroutine
def _is_eye(state, point, stride, player):
    """Returns whether a point among own stones and edges is an eye that random games leave alone."""
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
def _add_empty(state, point):
    state.stones[point] = EMPTY
    state.empties[state.num_empties] = point
    state.place[point] = state.num_empties
    state.num_empties += 1


@subroutine
def _take_chain(state, head, stride):
    """Takes a chain off the board; returns how many stones it had."""
    colour = np.int64(state.stones[head])
    stone = head
    count = 0
    while True:
        _add_empty(state, stone)
        state.board_key ^= _word(stone, colour)
        state.taken[stone] |= 1 << colour
        _touch(state, stone, stride, 1)
        count += 1
        stone = np.int64(state.next[stone])
        if stone == head:
            return count


@subroutine
def _join(state, point, other):
    """Makes one chain of the two that hold these stones, under the head of the second."""
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
def _put(state, point, stride, player):
    """Puts a stone, takes what has no liberties left, and notes the ko."""
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
def _draw_point(state, stride, rng):
    """Returns a point drawn from those that random games play on, or 0 where there is none.

    Tries the empty points in random order: those that will not do are put behind the others.
    """
    player = state.ply & 1
    num_left = np.int64(state.num_empties)
    while num_left > 0:
        k = random_below(rng, num_left)
        point = np.int64(state.empties[k])
        if _has_empty_neighbour(state, point, stride):
            return point
        is_refused = point == state.ko or _is_eye(state, point, stride, player)
        if not is_refused and _breathes(state, point, stride, player):
            return point
        num_left -= 1
        other = state.empties[num_left]
        state.empties[k] = other
        state.place[other] = k
        state.empties[num_left] = point
        state.place[point] = num_left
    return 0


@game("go")
class Go(NamedTuple):
    """Surround the larger area. Action row * size + column, rows from the top, written a1 (bottom left, no i); or pass.

    Area scoring: stones and the empty points that only one colour reaches; white gets `komi` more. Two passes end the
    game, and so does ply `max_game_length` (0: three times the points), the board counted as it stands. No move may
    bring back an earlier board (positional superko), whoever moved; without `superko` just the ko itself is forbidden.
    Without `suicide` no move may leave its own chain without liberties.

    Random games follow the reference specification of the computer-go list (Dailey 2008): any legal move but into a
    point-sized eye, a pass only where there is none; simple ko. An eye is a point whose neighbours are all own stones
    or edge, unless enemies hold more than one of its diagonals, or any at the edge.

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
            state.history[ply] = np.uint64(0)
        for place in range(len(state.empties)):
            state.empties[place] = 0
        state.num_empties = 0
        for row in range(1, game.size + 1):
            for column in range(1, game.size + 1):
                _add_empty(state, row * stride + column)
        state.board_key = np.uint64(0)
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
        point = _draw_point(state, game.size + 1, rng)
        return game.size * game.size if point == 0 else _action_of(game, point)

    def rollout(game, state, legal, rng, max_plies):
        """Goes on by points: no actions, no history."""
        while not _is_over(game, state):
            point = _draw_point(state, game.size + 1, rng)
            if point == 0:
                state.passes += 1
                state.ko = 0
            else:
                state.passes = 0
                _put(state, point, game.size + 1, state.ply & 1)
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
            _put(state, _point_of(game, action), game.size + 1, player)
        state.history[state.ply] = state.board_key

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if not _is_over(game, state):
            return ONGOING
        lead = game.final_score(state)
        return WIN if lead > 0 else LOSS if lead < 0 else DRAW

    def final_score(game, state):
        """Black's area less White's, less komi, as the board stands."""
        stride = game.size + 1
        reach, stones, empties = state.reach, state.stones, state.empties
        is_spreading = False  # to empty points from empty points beside them
        for k in range(state.num_empties):
            point = np.int64(empties[k])
            for neighbour in (point - stride, point - 1, point + 1, point + stride):
                if stones[neighbour] < EMPTY:
                    reach[point] |= 1 << stones[neighbour]
                is_spreading |= stones[neighbour] == EMPTY
        while is_spreading:
            is_spreading = False
            for k in range(state.num_empties):
                point = np.int64(empties[k])
                both = (
                    reach[point - stride] | reach[point - 1] | reach[point + 1] | reach[point + stride] | reach[point]
                )
                is_spreading |= both != reach[point]
                reach[point] = both
        area = 0
        for row in range(1, game.size + 1):
            for each in range(row * stride + 1, row * stride + 1 + game.size):
                if stones[each] == BLACK or reach[each] == 1:
                    area += 1
                elif stones[each] == WHITE or reach[each] == 2:
                    area -= 1
                reach[each] = 0
        return area - game.komi

    def encode(game, state, planes):
        """Planes, top row first: own stones, the opponent's, empty points, ko; ones where Black moves, after a pass."""
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
        """Of the board, the ko, whose turn it is, whether there was a pass and whether the game is over; no history."""
        rest = np.uint64(8 * state.ko + 4 * (state.passes > 0) + 2 * _is_over(game, state) + (state.ply & 1))
        return mix(state.board_key ^ mix(rest))

    def check(game) -> None:
        check_sizes("go", {"size": 2}, 19, {"size": game.size})
        check_sizes("go", {"max_game_length": 0}, 100_000, {"max_game_length": game.max_game_length})
        if not abs(game.komi) <= 361:
            raise BadInput(f"go: komi={game.komi} is out of range; it can be -361 to 361")

    @property
    def state_dtype(game) -> np.dtype:
        """One for each of the sizes up to 9, 13 and 19, so that few compilations serve all."""
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
        """A board that was there before may not come again, and plies are counted."""
        return False

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 6, game.size, game.size

    def symmetries(game) -> Symmetries:
        cells = board_symmetries(game.size, game.size)
        passes = np.full((len(cells), 1), game.size**2, np.int32)
        return Symmetries(cells=cells, actions=np.hstack([cells, passes]))

    def action_to_text(game, state, action: int) -> str:
        if action == game.size**2:
            return "pass"
        return cell_to_text(action // game.size, action % game.size, game.size, GO_LETTERS)

    def text_to_action(game, state, text: str) -> int:
        if text.lower() == "pass":
            return game.size**2
        cell = text_to_cell(text, game.size, game.size, GO_LETTERS)
        if cell is None:
            last = cell_to_text(0, game.size - 1, game.size, GO_LETTERS)
            raise BadInput(f"{text!r} is no go move; moves are a1 (bottom left) to {last}, without i, and pass")
        return cell[0] * game.size + cell[1]

    def split_moves(game, text: str) -> list[str]:
        return split_cells(text)

    def draw(game, state, marks: dict[int, str]) -> str:
        stride = game.size + 1
        points = [(row + 1) * stride + column + 1 for row in range(game.size) for column in range(game.size)]
        return draw_board(["XO."[state.stones[point]] for point in points], game.size, marks, GO_LETTERS)
