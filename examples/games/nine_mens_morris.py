"""Nine Men's Morris: close mills, three men on a line, and take the opponent's men.

Two players have nine men each, and place them one by one on the 24 points of three rings. Then they move men along the
lines. Who closes a mill removes an opposing man. It must not be in a mill itself, unless all are. A player who has
three men left may fly to any empty point. A player with two men, or without a move, has lost. 40 moves without a
placed or removed man are a draw.

Source of the rules: R. Gasser, Solving Nine Men's Morris, Computational Intelligence 12 (1996), who proves that the
game is a draw. The number of quiet moves is our choice.
"""

from typing import NamedTuple

import numpy as np

from azero.authoring import (
    DRAW,
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
    count_bits,
    has_bit,
    low_bits,
    lowest_bit,
    mix,
    subroutine,
)

POINTS = 24  # 8 * ring + position. Ring 0 is the outer one; positions go clockwise from the top left corner
LINES = [[8 * ring + (corner + k) % 8 for k in range(3)] for ring in range(3) for corner in range(0, 8, 2)]
LINES += [[8 * ring + middle for ring in range(3)] for middle in range(1, 8, 2)]
STEPS = [(a, b) for line in LINES for a, b in (line[:2], line[1:])]


def bits_of(points):
    return sum(1 << point for point in points)


MILLS = np.array([bits_of(line) for line in LINES], np.uint64)
NEIGHBOURS = np.array([bits_of(sum(step) - p for step in STEPS if p in step) for p in range(POINTS)], np.uint64)


@subroutine
def in_mills(men):
    """Returns the points of the mills of these men, as bits."""
    found = ZERO
    for mill in MILLS:
        if men & mill == mill:
            found |= mill
    return found


@subroutine
def completing(men):
    """Returns the points where one more man completes a mill, as bits."""
    found = ZERO
    for mill in MILLS:
        missing = mill & ~men
        if missing & (missing - ONE) == ZERO:
            found |= missing
    return found


@subroutine
def goals(state, point):
    """Returns the points that the mover's man on a point can go to, as bits."""
    empty = low_bits(POINTS) & ~(state.men[0] | state.men[1])
    if count_bits(state.men[state.mover]) == 3:
        return empty
    return empty & NEIGHBOURS[point]


@subroutine
def is_blocked(state):
    if state.is_removing or state.hand[state.mover]:
        return False
    men = state.men[state.mover]
    while men:
        if goals(state, lowest_bit(men)):
            return False
        men &= men - ONE
    return True


class NineMensMorris(NamedTuple):
    """Close mills and take the opponent's men. A player with two men, or without a move, has lost."""

    quiet: int = 40  # moves without a placed or removed man, after which the game is drawn

    def reset(game, state):
        state.men[:] = ZERO
        state.hand[:] = 9
        state.mover = 0
        state.is_removing = 0
        state.quiet = 0

    def legal_actions(game, state, out):
        count = 0
        mover = state.mover
        if state.is_removing:
            theirs = state.men[1 - mover]
            points = theirs & ~in_mills(theirs)
            if not points:
                points = theirs
        elif state.hand[mover]:
            points = low_bits(POINTS) & ~(state.men[0] | state.men[1])
        else:
            points = state.men[mover]
            while points:
                point = lowest_bit(points)
                points &= points - ONE
                to = goals(state, point)
                while to:
                    out[count] = POINTS + POINTS * point + lowest_bit(to)
                    count += 1
                    to &= to - ONE
            return count
        while points:
            out[count] = lowest_bit(points)
            count += 1
            points &= points - ONE
        return count

    def apply_action(game, state, action):
        mover = state.mover
        if state.is_removing:
            state.men[1 - mover] &= ~bit(action)
            state.is_removing = 0
            state.quiet = 0
            state.mover = 1 - mover
            return
        if action < POINTS:
            point = action
            state.hand[mover] -= 1
        else:
            point = action % POINTS
            state.men[mover] &= ~bit(action // POINTS - 1)
            state.quiet += 1
        state.men[mover] |= bit(point)
        if in_mills(state.men[mover]) & bit(point):
            state.is_removing = 1
        else:
            state.mover = 1 - mover

    def current_player(game, state):
        return state.mover

    def outcome(game, state):
        mover = state.mover
        men = state.hand[mover] + np.int64(count_bits(state.men[mover]))
        if men < 3 or is_blocked(state):
            return WIN if mover else LOSS
        if state.quiet >= game.quiet and not state.is_removing:
            return DRAW
        return ONGOING

    def encode(game, state, planes):
        mover = state.mover
        own, theirs = state.men[mover], state.men[1 - mover]
        own_flies = state.hand[mover] == 0 and count_bits(own) == 3
        theirs_fly = state.hand[1 - mover] == 0 and count_bits(theirs) == 3
        own_mills, their_mills = in_mills(own) | completing(own), in_mills(theirs) | completing(theirs)
        for ring in range(3):
            for column in range(8):
                point = 8 * ring + column
                planes[0, ring, column] = has_bit(own, point)
                planes[1, ring, column] = has_bit(theirs, point)
                planes[2, ring, column] = state.hand[mover] / 9
                planes[3, ring, column] = state.hand[1 - mover] / 9
                planes[4, ring, column] = state.is_removing
                planes[5, ring, column] = own_flies
                planes[6, ring, column] = theirs_fly
                planes[7, ring, column] = state.quiet / game.quiet
                planes[8, ring, column] = has_bit(own_mills, point)
                planes[9, ring, column] = has_bit(their_mills, point)

    def hash_key(game, state):
        board = state.men[0] | state.men[1] << np.uint64(24)
        rest = state.hand[0] + 16 * (state.hand[1] + 16 * (state.mover + 2 * (state.is_removing + 2 * state.quiet)))
        return mix(mix(board) ^ np.uint64(rest))

    def ranges(game):
        return {"quiet": (1, 200)}

    state_dtype = np.dtype(
        [
            ("men", np.uint64, (2,)),
            ("hand", np.int8, (2,)),
            ("mover", np.int8),
            ("is_removing", np.int8),
            ("quiet", np.int16),
        ],
        align=True,
    )
    num_actions = POINTS + POINTS**2  # place or remove: the point; move: 24 + 24 * from + to
    planes_shape = (10, 3, 8)
    max_plies = property(lambda game: 18 + 14 + 14 * game.quiet)  # at most 14 men are removed

    def target(game, state, action):
        return action % POINTS

    def symmetries(game):
        """The eight turns and reflections of the square, and each of them with outer and inner ring exchanged."""
        cells, actions = [], []
        for swap in (0, 1):
            for way in (1, -1):
                for turn in range(0, 8, 2):
                    from_position = [(way * position + turn) % 8 for position in range(8)]
                    from_ring = [2, 1, 0] if swap else [0, 1, 2]
                    points = [8 * from_ring[point // 8] + from_position[point % 8] for point in range(POINTS)]
                    cells.append(points)
                    actions.append(points + [POINTS + POINTS * a + b for a in points for b in points])
        return Symmetries(np.array(cells, np.int32), np.array(actions, np.int32))

    def action_to_text(game, state, action):
        if action >= POINTS:
            return f"{NAMES[action // POINTS - 1]}-{NAMES[action % POINTS]}"
        return ("x" if state.is_removing else "") + NAMES[action]

    def draw(game, state, marks):
        """Draws the board with its lines. A mark stands on the point that its action goes to."""
        lines = [list(line) for line in DRAWING]
        for point, (row, column) in enumerate(PLACES):
            man = has_bit(state.men[0], point) + 2 * has_bit(state.men[1], point)
            lines[2 * row][4 * column] = ".XO"[int(man)]
        for action, mark in reversed(marks.items()):
            row, column = PLACES[action % POINTS]
            lines[2 * row][4 * column : 4 * column + len(mark)] = mark
        rows = ["".join(line).rstrip() for line in lines]
        named = [f"{7 - k // 2}  {row}" if k % 2 == 0 else f"   {row}" for k, row in enumerate(rows)]
        return "\n".join([*named, "   a   b   c   d   e   f   g", f"In hand: X {state.hand[0]}, O {state.hand[1]}"])

    def picture(game, state, legal, history):
        pieces = [Piece(p, k) for k in (0, 1) for p in range(POINTS) if has_bit(state.men[k], p)]
        clicks = {a: (a,) if a < POINTS else (a // POINTS - 1, a % POINTS) for a in legal}
        steps = ("From", "To") if legal and legal[0] >= POINTS else ("Remove" if state.is_removing else "Place",)
        return Picture(BOARD, (Player("White", "white"), Player("Black", "black")), pieces, clicks, steps=steps)


DRAWING = """
.-----------.-----------.
|           |           |
|   .-------.-------.   |
|   |       |       |   |
|   |   .---.---.   |   |
|   |   |       |   |   |
.---.---.       .---.---.
|   |   |       |   |   |
|   |   .---.---.   |   |
|   |       |       |   |
|   .-------.-------.   |
|           |           |
.-----------.-----------.
""".strip().splitlines()


def place(point):
    """Returns row and column of a point on the board of 7 x 7 on which it is drawn."""
    ring, position = divmod(point, 8)
    ends = (ring, 3, 6 - ring)
    return ends[(0, 0, 0, 1, 2, 2, 2, 1)[position]], ends[(0, 1, 2, 2, 2, 1, 0, 0)[position]]


PLACES = [place(point) for point in range(POINTS)]
NAMES = [cell_to_text(row, column, 7) for row, column in PLACES]
BOARD = Board(
    "lines",
    7,
    7,
    [Cell(name, column + 0.5, row + 0.5, "point") for name, (row, column) in zip(NAMES, PLACES, strict=True)],
    [[PLACES.index((row, column)) if (row, column) in PLACES else None for column in range(7)] for row in range(7)],
    lines=[(PLACES[a][1] + 0.5, PLACES[a][0] + 0.5, PLACES[b][1] + 0.5, PLACES[b][0] + 0.5) for a, b in STEPS],
)
