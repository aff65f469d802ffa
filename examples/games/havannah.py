"""Havannah: on a hexagon of hexagons, build a ring, a bridge or a fork.

Two players place stones by turns. A player wins with a chain of stones that is a ring around one or more cells, or a
bridge between two of the six corners, or a fork between three of the six sides. The cells in a ring may be empty or
have stones of any colour. Corners do not belong to sides. A full board without a chain of these is a draw.

Source of the rules: C. Freeling, https://www.mindsports.nl/index.php/arena/havannah
"""

from typing import NamedTuple

import numpy as np

from azero.authoring import (
    DRAW,
    LETTERS,
    LOSS,
    ONE,
    ONGOING,
    WIN,
    ZERO,
    Board,
    Cell,
    Picture,
    Piece,
    Player,
    Symmetries,
    bit,
    cell_to_text,
    has_bit,
    lowest_bit,
    mix,
    subroutine,
)

AROUND = ((0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0))  # rows down and columns right, in a circle
NOWHERE = 7  # a bit that no cell has: the cells have the bits 8 * row + column, with columns from 0 to 6
MAX_SIZE = 4


def cells_of(size):
    """Returns row and column of the cells of a board, by rows."""
    side = 2 * size - 1
    return [(r, c) for r in range(side) for c in range(side) if abs(r - c) < size]


def sides_of(size, cell):
    """Returns the numbers of the sides that the cell lies on."""
    end = size - 1
    x, y = cell[1] - end, cell[0] - end
    return [k for k, distance in enumerate((x, -x, y, -y, x - y, y - x)) if distance == end]


def word(cells):
    return sum(1 << (8 * row + column) for row, column in cells)


SIZES = range(MAX_SIZE + 1)
CELLS = np.array([word(cells_of(size)) for size in SIZES], np.uint64)
CORNERS = np.array([word(c for c in cells_of(size) if len(sides_of(size, c)) == 2) for size in SIZES], np.uint64)
SIDES = np.array([[word(c for c in cells_of(s) if sides_of(s, c) == [k]) for k in range(6)] for s in SIZES], np.uint64)
NEIGHBOURS = np.array(
    [
        [
            8 * (row + down) + column + right if 0 <= row + down < 7 and 0 <= column + right < 7 else NOWHERE
            for down, right in AROUND
        ]
        for row in range(8)
        for column in range(8)
    ],
    np.int64,
)


@subroutine
def chain(stones, place):
    """Returns the stones that are connected to the one at the place."""
    found = bit(place)
    while True:
        near = found | found << ONE | found >> ONE | found << np.uint64(8) | found >> np.uint64(8)
        near |= found << np.uint64(9) | found >> np.uint64(9)
        near &= stones
        if near == found:
            return found
        found = near


@subroutine
def is_surrounded(stones, place):
    """Returns whether there are stones on a place and on all six cells around it."""
    for k in range(6):
        if not has_bit(stones, NEIGHBOURS[place, k]):
            return False
    return has_bit(stones, place) == ONE


@subroutine
def closes_ring(stones, place):
    """Returns whether the stone at the place, the last one, has made a ring.

    Either the ring was open at the place: then the stones around it are of two arcs or more, which are connected
    without it. Or all cells in the ring have stones of its colour: then one of them has six around it.
    """
    others = stones & ~bit(place)
    arcs = ZERO  # the first stone of each arc
    for k in range(6):
        if has_bit(others, NEIGHBOURS[place, k]) and not has_bit(others, NEIGHBOURS[place, (k + 5) % 6]):
            arcs |= bit(NEIGHBOURS[place, k])
    while arcs & (arcs - ONE):
        first = lowest_bit(arcs)
        arcs &= arcs - ONE
        if chain(others, first) & arcs:
            return True
    is_filled = is_surrounded(stones, place)
    for k in range(6):
        is_filled |= is_surrounded(stones, NEIGHBOURS[place, k])
    return is_filled


class Havannah(NamedTuple):
    """Connect two corners or three sides, or build a ring."""

    size: int = 4  # cells along a side

    def reset(game, state):
        state.stones[:] = ZERO
        state.mover = 0
        state.has_won = 0  # the player who has just moved

    def legal_actions(game, state, out):
        count = 0
        side = 2 * game.size - 1
        free = CELLS[game.size] & ~(state.stones[0] | state.stones[1])
        while free:
            place = lowest_bit(free)
            free &= free - ONE
            out[count] = place // 8 * side + place % 8
            count += 1
        return count

    def apply_action(game, state, action):
        side = 2 * game.size - 1
        place = action // side * 8 + action % side
        stones = state.stones[state.mover] | bit(place)
        state.stones[state.mover] = stones
        state.mover = 1 - state.mover
        group = chain(stones, place)
        sides = 0
        for k in range(6):
            if group & SIDES[game.size, k]:
                sides += 1
        corners = group & CORNERS[game.size]
        if sides >= 3 or corners & (corners - ONE) or closes_ring(stones, place):
            state.has_won = 1

    def current_player(game, state):
        return state.mover

    def outcome(game, state):
        if state.has_won:
            return WIN if state.mover else LOSS
        if state.stones[0] | state.stones[1] == CELLS[game.size]:
            return DRAW
        return ONGOING

    def encode(game, state, planes):
        side = 2 * game.size - 1
        for row in range(side):
            for column in range(side):
                place = 8 * row + column
                planes[0, row, column] = has_bit(state.stones[state.mover], place)
                planes[1, row, column] = has_bit(state.stones[1 - state.mover], place)
                planes[2, row, column] = has_bit(CELLS[game.size], place)
                planes[3, row, column] = has_bit(CORNERS[game.size], place)

    def hash_key(game, state):
        return mix(mix(state.stones[0]) ^ state.stones[1])  # the number of stones tells who is to move

    def ranges(game):
        return {"size": (2, MAX_SIZE)}

    state_dtype = np.dtype([("stones", np.uint64, (2,)), ("mover", np.int8), ("has_won", np.int8)], align=True)
    num_actions = property(lambda game: (2 * game.size - 1) ** 2)  # row * side + column; some are no cells
    max_plies = property(lambda game: len(cells_of(game.size)))
    planes_shape = property(lambda game: (4, 2 * game.size - 1, 2 * game.size - 1))

    def symmetries(game):
        """The six turns of the hexagon, and the reflection of each. What is no cell stays in its place."""
        end, side = game.size - 1, 2 * game.size - 1
        turns = []
        for is_reflected in (False, True):
            for number in range(6):
                gather = list(range(side**2))
                for row, column in cells_of(game.size):
                    x, y = column - end, row - end
                    if is_reflected:
                        x, y = y, x
                    for _ in range(number):
                        x, y = x - y, x
                    gather[side * row + column] = side * (y + end) + x + end
                turns.append(gather)
        cells = np.array(turns, np.int32)
        return Symmetries(cells, cells)

    def action_to_text(game, state, action):
        side = 2 * game.size - 1
        return cell_to_text(action // side, action % side, side, is_top_first=True)

    def draw(game, state, marks):
        side = 2 * game.size - 1
        lines = []
        for row in range(side):
            texts = []
            for r, c in cells_of(game.size):
                if r == row:
                    kind = has_bit(state.stones[0], 8 * r + c) + 2 * has_bit(state.stones[1], 8 * r + c)
                    texts.append(marks.get(side * r + c, ".XO"[int(kind)]).rjust(2))
            first = LETTERS[max(0, row - game.size + 1)]
            lines.append(" " * abs(row - game.size + 1) + f"{first}{row + 1}" + "".join(texts))
        return "\n".join(lines)

    def picture(game, state, legal, history):
        cells = cells_of(game.size)
        pieces = [
            Piece(number, player)
            for player in (0, 1)
            for number, (row, column) in enumerate(cells)
            if has_bit(state.stones[player], 8 * row + column)
        ]
        side = 2 * game.size - 1
        clicks = {action: (cells.index((action // side, action % side)),) for action in legal}
        return Picture(board(game.size), (Player("White", "white"), Player("Black", "black")), pieces, clicks)


def board(size):
    side = 2 * size - 1
    cells = cells_of(size)
    return Board(
        "hexes",
        side,
        0.87 * (side - 1) + 1.16,
        [
            Cell(
                cell_to_text(row, column, side, is_top_first=True),
                column + (size - row) / 2,
                0.87 * row + 0.58,
                "hexagon",
            )
            for row, column in cells
        ],
        [[cells.index((row, column)) for column in range(side) if (row, column) in cells] for row in range(side)],
    )
