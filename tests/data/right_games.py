"""Games that satisfy every law, of kinds that azero does not ship: stores, captures, extra moves, heaps, limits."""

from typing import NamedTuple

import numpy as np

from azero.authoring import DRAW, LOSS, ONGOING, WIN, mix, subroutine


@subroutine
def key_of(cells, start):
    """Returns a key of a sequence of small numbers."""
    key = mix(np.uint64(start) + np.uint64(1))
    for k in range(len(cells)):
        key = mix(key ^ np.uint64(np.int64(cells[k]) + 1000))
    return key


class Kalah(NamedTuple):
    """Players sow the seeds of a pit.

    If the last seed falls into the player's store, the player moves again. If it falls into an empty pit of the
    player, it captures.
    """

    pits: int = 3
    seeds: int = 2

    def reset(game, state):
        for place in range(14):
            is_pit = place % 7 < game.pits
            state.cells[place] = game.seeds if is_pit else 0
        state.mover = 0

    def legal_actions(game, state, out):
        count = 0
        for pit in range(game.pits):
            if state.cells[7 * state.mover + pit] > 0:
                out[count] = pit
                count += 1
        return count

    def apply_action(game, state, action):
        side, place = state.mover, action
        left = np.int64(state.cells[7 * side + place])
        state.cells[7 * side + place] = 0
        while left > 0:
            place += 1
            if place > game.pits or (place == game.pits and side != state.mover):
                side, place = 1 - side, 0
            state.cells[7 * side + place] += 1
            left -= 1
        if place == game.pits:
            return
        across = 7 * (1 - side) + game.pits - 1 - place
        if side == state.mover and state.cells[7 * side + place] == 1 and state.cells[across] > 0:
            state.cells[7 * side + game.pits] += state.cells[across] + 1
            state.cells[across] = 0
            state.cells[7 * side + place] = 0
        state.mover = 1 - state.mover

    def current_player(game, state):
        return state.mover

    def outcome(game, state):
        left = 0
        for pit in range(game.pits):
            left += state.cells[7 * state.mover + pit]
        if left > 0:
            return ONGOING
        score = game.final_score(state)
        return WIN if score > 0 else LOSS if score < 0 else DRAW

    def final_score(game, state):
        score = 0
        for place in range(game.pits + 1):
            score += np.int64(state.cells[place]) - np.int64(state.cells[7 + place])
        return float(score)

    def encode(game, state, planes):
        for side in range(2):
            for place in range(game.pits + 1):
                planes[side, 0, place] = state.cells[7 * (state.mover ^ side) + place]

    def hash_key(game, state):
        return key_of(state.cells, state.mover)

    state_dtype = np.dtype([("cells", np.int8, (14,)), ("mover", np.int32)], align=True)  # per side: pits, store
    num_actions = property(lambda game: game.pits)
    max_plies = property(lambda game: 40 * game.pits * game.seeds)
    planes_shape = property(lambda game: (2, 1, game.pits + 1))


@subroutine
def num_lines(game):
    """Returns the number of lines between the dots."""
    return (game.rows + 1) * game.columns + game.rows * (game.columns + 1)


class DotsAndBoxes(NamedTuple):
    """Players draw lines. A player who closes a box gets it and draws again. Horizontal lines come first."""

    rows: int = 2
    columns: int = 2

    def reset(game, state):
        for line in range(24):
            state.lines[line] = 0
        for box in range(9):
            state.owners[box] = 0
        state.mover = 0

    def legal_actions(game, state, out):
        count = 0
        for line in range(num_lines(game)):
            if state.lines[line] == 0:
                out[count] = line
                count += 1
        return count

    def apply_action(game, state, action):
        state.lines[action] = 1
        across = (game.rows + 1) * game.columns
        has_closed = False
        for row in range(game.rows):
            for column in range(game.columns):
                top, left = row * game.columns + column, across + row * (game.columns + 1) + column
                sides = state.lines[top] + state.lines[top + game.columns] + state.lines[left] + state.lines[left + 1]
                if sides == 4 and state.owners[row * game.columns + column] == 0:
                    state.owners[row * game.columns + column] = 1 - 2 * state.mover
                    has_closed = True
        if not has_closed:
            state.mover = 1 - state.mover

    def current_player(game, state):
        return state.mover

    def outcome(game, state):
        lead, num_owned = 0, 0
        for box in range(9):
            lead += state.owners[box]
            num_owned += state.owners[box] != 0
        if num_owned < game.rows * game.columns:
            return ONGOING
        return WIN if lead > 0 else LOSS if lead < 0 else DRAW

    def encode(game, state, planes):
        for line in range(num_lines(game)):
            planes[0, 0, line] = state.lines[line]
            planes[1, 0, line] = state.mover

    def hash_key(game, state):
        lead = 0
        for box in range(9):
            lead += state.owners[box]
        return key_of(state.lines, 2 * (lead + 9) + state.mover)

    state_dtype = np.dtype([("lines", np.int8, (24,)), ("owners", np.int8, (9,)), ("mover", np.int32)], align=True)
    num_actions = property(lambda game: int(num_lines(game)))
    max_plies = property(lambda game: game.num_actions)
    planes_shape = property(lambda game: (2, 1, game.num_actions))


class Chomp(NamedTuple):
    """Players eat a square and all squares below it and to its right. Eating the top left square loses."""

    rows: int = 3
    columns: int = 4

    def reset(game, state):
        for row in range(8):
            state.left[row] = game.columns if row < game.rows else 0
        state.ply = 0

    def legal_actions(game, state, out):
        count = 0
        for row in range(game.rows):
            for column in range(state.left[row]):
                out[count] = row * game.columns + column
                count += 1
        return count

    def apply_action(game, state, action):
        for row in range(action // game.columns, game.rows):
            state.left[row] = min(np.int64(state.left[row]), action % game.columns)
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.left[0] > 0:
            return ONGOING
        return LOSS if state.ply & 1 else WIN

    def encode(game, state, planes):
        for row in range(game.rows):
            for column in range(game.columns):
                planes[0, row, column] = column < state.left[row]

    def hash_key(game, state):
        return key_of(state.left, state.ply & 1)

    state_dtype = np.dtype([("left", np.int8, (8,)), ("ply", np.int32)], align=True)
    num_actions = property(lambda game: game.rows * game.columns)
    max_plies = property(lambda game: game.rows * game.columns)
    planes_shape = property(lambda game: (1, game.rows, game.columns))


@subroutine
def can_move(game, state):
    """Returns whether a pawn of the player to move has a move."""
    own = 1 + state.ply % 2
    ahead = -1 if own == 1 else 1
    for cell in range(game.size * game.size):
        row, column = cell // game.size + ahead, cell % game.size
        if state.cells[cell] == own and 0 <= row < game.size:
            if state.cells[row * game.size + column] == 0:
                return True
            if column > 0 and state.cells[row * game.size + column - 1] == 3 - own:
                return True
            if column < game.size - 1 and state.cells[row * game.size + column + 1] == 3 - own:
                return True
    return False


class Hexapawn(NamedTuple):
    """Pawns step ahead or capture diagonally. Reaching the far side wins, and being unable to move loses.

    The key is a ternary number.
    """

    size: int = 3

    def reset(game, state):
        for cell in range(25):
            row = cell // game.size
            state.cells[cell] = 1 if row == game.size - 1 else 2 if row == 0 else 0
        state.ply = 0
        state.is_won = 0

    def legal_actions(game, state, out):
        count = 0
        own = 1 + state.ply % 2
        ahead = -1 if own == 1 else 1
        for cell in range(game.size * game.size):
            row, column = cell // game.size + ahead, cell % game.size
            if state.cells[cell] == own and 0 <= row < game.size:
                for side in range(-1, 2):
                    if 0 <= column + side < game.size:
                        there = state.cells[row * game.size + column + side]
                        if (there == 0 and side == 0) or (there == 3 - own and side != 0):
                            out[count] = 3 * cell + side + 1
                            count += 1
        return count

    def apply_action(game, state, action):
        own = 1 + state.ply % 2
        row = action // 3 // game.size + (-1 if own == 1 else 1)
        state.cells[action // 3] = 0
        state.cells[row * game.size + action // 3 % game.size + action % 3 - 1] = own
        state.is_won = row == 0 or row == game.size - 1
        state.ply += 1
        state.is_won = state.is_won or not can_move(game, state)

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if not state.is_won:
            return ONGOING
        return WIN if state.ply & 1 else LOSS

    def encode(game, state, planes):
        for row in range(game.size):
            for column in range(game.size):
                planes[0, row, column] = state.cells[row * game.size + column]

    def hash_key(game, state):
        key = np.int64(state.ply & 1)
        for cell in range(game.size * game.size):
            key = 3 * key + np.int64(state.cells[cell])
        return 2 * key + np.int64(state.is_won)

    state_dtype = np.dtype([("cells", np.int8, (25,)), ("ply", np.int32), ("is_won", np.int32)], align=True)
    num_actions = property(lambda game: 3 * game.size**2)
    max_plies = property(lambda game: 2 * game.size**2)
    planes_shape = property(lambda game: (1, game.size, game.size))


class Kayles(NamedTuple):
    """Players knock down one pin or two adjacent pins. Knocking down the last one wins. The pins are bits."""

    pins: int = 7

    def reset(game, state):
        state.pins = (np.uint64(1) << np.uint64(game.pins)) - np.uint64(1)
        state.ply = 0

    def legal_actions(game, state, out):
        count = 0
        for action in range(2 * game.pins):
            taken = np.uint64(1 + 2 * (action % 2)) << np.uint64(action // 2)
            if state.pins & taken == taken:
                out[count] = action
                count += 1
        return count

    def apply_action(game, state, action):
        state.pins ^= np.uint64(1 + 2 * (action % 2)) << np.uint64(action // 2)
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.pins:
            return ONGOING
        return WIN if state.ply & 1 else LOSS

    def encode(game, state, planes):
        for pin in range(game.pins):
            planes[0, 0, pin] = state.pins >> np.uint64(pin) & np.uint64(1)

    def hash_key(game, state):
        return mix(mix(state.pins) ^ np.uint64(state.ply & 1))

    state_dtype = np.dtype([("pins", np.uint64), ("ply", np.int32)], align=True)
    num_actions = property(lambda game: 2 * game.pins)
    max_plies = property(lambda game: game.pins)
    planes_shape = property(lambda game: (1, 1, game.pins))


class Wythoff(NamedTuple):
    """Players take from one of two heaps, or equally from both. Taking the last wins. The key may contain the ply."""

    heap: int = 5

    def reset(game, state):
        state.heaps[0] = game.heap
        state.heaps[1] = game.heap + 2
        state.ply = 0

    def legal_actions(game, state, out):
        count = 0
        for kind in range(3):
            low = min(state.heaps[0], state.heaps[1])
            for taken in range(low if kind == 2 else state.heaps[kind]):
                out[count] = kind * (game.heap + 2) + taken
                count += 1
        return count

    def apply_action(game, state, action):
        kind, taken = action // (game.heap + 2), action % (game.heap + 2) + 1
        if kind != 1:
            state.heaps[0] -= taken
        if kind != 0:
            state.heaps[1] -= taken
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.heaps[0] + state.heaps[1] > 0:
            return ONGOING
        return WIN if state.ply & 1 else LOSS

    def encode(game, state, planes):
        planes[0, 0, 0] = state.heaps[0]
        planes[0, 0, 1] = state.heaps[1]

    def hash_key(game, state):
        return key_of(state.heaps, state.ply)

    state_dtype = np.dtype([("heaps", np.int16, (2,)), ("ply", np.int32)], align=True)
    num_actions = property(lambda game: 3 * (game.heap + 2))
    max_plies = property(lambda game: 2 * game.heap + 2)
    planes_shape = property(lambda game: (1, 1, 2))


class Ring(NamedTuple):
    """Two runners go one or two cells round a ring. Landing on the other wins; at the limit of plies it is a draw.

    The outcome depends on the ply, so the key contains it.
    """

    cells: int = 7
    plies: int = 12

    def reset(game, state):
        state.runners[0] = 0
        state.runners[1] = 3
        state.ply = 0

    def legal_actions(game, state, out):
        out[0], out[1] = 0, 1
        return 2

    def apply_action(game, state, action):
        player = state.ply & 1
        state.runners[player] = (state.runners[player] + action + 1) % game.cells
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.runners[0] == state.runners[1]:
            return WIN if state.ply & 1 else LOSS
        return DRAW if state.ply == game.plies else ONGOING

    def encode(game, state, planes):
        for cell in range(game.cells):
            planes[0, 0, cell] = state.runners[0] == cell
            planes[1, 0, cell] = state.runners[1] == cell

    def hash_key(game, state):
        return key_of(state.runners, state.ply)

    state_dtype = np.dtype([("runners", np.int8, (2,)), ("ply", np.int32)], align=True)
    num_actions = property(lambda game: 2)
    max_plies = property(lambda game: game.plies)
    planes_shape = property(lambda game: (2, 1, game.cells))


class Dials(NamedTuple):
    """The player turns one of six dials, or scores a point. Thirty points win.

    After eighty turns without a point the second player wins. The key contains their number, which seldom matters:
    random players score much earlier.
    """

    goal: int = 30
    patience: int = 80

    def reset(game, state):
        state.dials[:] = 0
        state.points = state.quiet = state.ply = 0

    def legal_actions(game, state, out):
        for action in range(7):
            out[action] = action
        return 7

    def apply_action(game, state, action):
        state.quiet += 1
        if action < 6:
            state.dials[action] = (state.dials[action] + 1) % 5
        else:
            state.points += 1
            state.quiet = 0
        state.ply ^= 1

    def current_player(game, state):
        return state.ply

    def outcome(game, state):
        if state.points == game.goal:
            return WIN
        return LOSS if state.quiet == game.patience else ONGOING

    def encode(game, state, planes):
        for dial in range(6):
            planes[0, 0, dial] = state.dials[dial]
            planes[1, 0, dial] = state.points
            planes[2, 0, dial] = state.quiet

    def hash_key(game, state):
        return key_of(state.dials, state.ply + 2 * state.points + 1000 * state.quiet)

    state_dtype = np.dtype(
        [("dials", np.int8, (6,)), ("points", np.int16), ("quiet", np.int16), ("ply", np.int16)], align=True
    )
    num_actions = property(lambda game: 7)
    max_plies = property(lambda game: game.goal * game.patience)
    planes_shape = property(lambda game: (3, 1, 6))
