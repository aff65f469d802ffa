"""Ataxx on 7x7 cells: stones multiply, jump, and turn their neighbours.

A stone multiplies into an empty cell next to it (also diagonally), or jumps to an empty cell two rows or columns away.
Opposing stones next to the cell it reaches change sides. A player who has no such move passes. The game is over when
the board is full, a player has no stones left, or `max_game_length` plies have been played. Then the player with more
stones wins.

Source: the rules of the arcade game (Leland Corporation, 1990) as engines play them. Moves are written in their way:
`c3` multiplies into c3, `a1c3` jumps.
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
    Button,
    Picture,
    Player,
    Symmetries,
    bit,
    board_symmetries,
    cell_to_text,
    count_bits,
    draw_board,
    has_bit,
    lowest_bit,
    mix,
    pieces_from,
    places_by_plane,
    squares,
    step_symmetries,
    subroutine,
)

SIZE = 7
CELLS = SIZE * SIZE
JUMPS = tuple((rows, columns) for rows in range(-2, 3) for columns in range(-2, 3) if max(abs(rows), abs(columns)) == 2)
PASS = (1 + len(JUMPS)) * CELLS  # before it: a plane of cells to multiply into, then a plane of origins for each jump
BOARD = np.uint64(2**CELLS - 1)


def cells_within(row, column, steps):
    """Returns the bits of the cells to which a stone gets by one of `steps` (rows down, columns right)."""
    ends = [(row + rows, column + columns) for rows, columns in steps]
    return sum(1 << (SIZE * row + column) for row, column in ends if 0 <= row < SIZE and 0 <= column < SIZE)


AROUND = [(rows, columns) for rows in (-1, 0, 1) for columns in (-1, 0, 1) if rows or columns]
NEIGHBOURS = np.array([cells_within(cell // SIZE, cell % SIZE, AROUND) for cell in range(CELLS)], np.uint64)
ORIGINS = np.array(  # of each jump: the cells from which it stays on the board
    [sum(1 << cell for cell in range(CELLS) if cells_within(cell // SIZE, cell % SIZE, [jump])) for jump in JUMPS],
    np.uint64,
)
OFFSETS = np.array([SIZE * rows + columns for rows, columns in JUMPS], np.int64)


@subroutine
def clones(own, empty):
    """Returns the empty cells next to own stones."""
    near = ZERO
    while own:
        near |= NEIGHBOURS[lowest_bit(own)]
        own &= own - ONE
    return near & empty


@subroutine
def jumpers(own, empty, jump):
    """Returns the own stones that can make a jump."""
    offset = OFFSETS[jump]
    ends = empty >> np.uint64(offset) if offset > 0 else empty << np.uint64(-offset)
    return own & ends & ORIGINS[jump]


class Ataxx(NamedTuple):
    """Stones multiply into neighbouring cells or jump two cells, and turn the opposing stones next to them."""

    max_game_length: int = 300

    def reset(game, state):
        state.stones[0] = bit(0) | bit(CELLS - 1)
        state.stones[1] = bit(SIZE - 1) | bit(CELLS - SIZE)
        state.player = 0
        state.ply = 0

    def legal_actions(game, state, out):
        own = state.stones[state.player]
        empty = BOARD & ~(state.stones[0] | state.stones[1])
        count = 0
        places = clones(own, empty)
        while places:
            out[count] = lowest_bit(places)
            places &= places - ONE
            count += 1
        for jump in range(len(JUMPS)):
            places = jumpers(own, empty, jump)
            while places:
                out[count] = (1 + jump) * CELLS + lowest_bit(places)
                places &= places - ONE
                count += 1
        if count == 0:
            out[0] = PASS
            count = 1
        return count

    def apply_action(game, state, action):
        player = state.player
        if action != PASS:
            end = game.target(state, action)
            if action >= CELLS:
                state.stones[player] ^= bit(action % CELLS)
            turned = NEIGHBOURS[end] & state.stones[1 - player]
            state.stones[player] |= bit(end) | turned
            state.stones[1 - player] ^= turned
        state.player = 1 - player
        state.ply += 1

    def current_player(game, state):
        return state.player

    def outcome(game, state):
        is_full = state.stones[0] | state.stones[1] == BOARD
        if state.stones[0] and state.stones[1] and not is_full and state.ply < game.max_game_length:
            return ONGOING
        margin = game.final_score(state)
        return WIN if margin > 0 else LOSS if margin < 0 else DRAW

    def encode(game, state, planes):
        own, other = state.stones[state.player], state.stones[1 - state.player]
        for cell in range(CELLS):
            row, column = cell // SIZE, cell % SIZE
            planes[0, row, column] = has_bit(own, cell)
            planes[1, row, column] = has_bit(other, cell)
            planes[2, row, column] = has_bit(~(own | other), cell)
            planes[3, row, column] = state.ply / game.max_game_length

    def hash_key(game, state):
        turn = np.uint64(2 * state.ply + state.player)
        return mix(mix(mix(state.stones[0]) ^ state.stones[1]) ^ turn)

    def target(game, state, action):
        return action if action < CELLS or action == PASS else action % CELLS + OFFSETS[action // CELLS - 1]

    def final_score(game, state):
        return np.int64(count_bits(state.stones[0])) - np.int64(count_bits(state.stones[1]))

    def ownership(game, state, owners):
        for cell in range(CELLS):
            is_first, is_second = has_bit(state.stones[0], cell), has_bit(state.stones[1], cell)
            owners[cell // SIZE, cell % SIZE] = np.int64(is_first) - np.int64(is_second)

    def symmetries(game):
        cells = board_symmetries(SIZE, SIZE)
        cells = cells[np.isin(cells[:, 0], (0, CELLS - 1))]  # the others exchange the players' corners
        jumps = CELLS + step_symmetries(cells, SIZE, SIZE, JUMPS)
        passes = np.full((len(cells), 1), PASS, np.int32)
        return Symmetries(cells, np.hstack((cells, jumps, passes)))

    def ranges(game):
        return {"max_game_length": (1, 1000)}

    def places(game):
        return places_by_plane(SIZE, SIZE, planes=1 + len(JUMPS), slots=1)

    state_dtype = np.dtype([("stones", np.uint64, 2), ("player", np.int32), ("ply", np.int32)], align=True)
    num_actions = PASS + 1
    max_plies = property(lambda game: game.max_game_length)
    planes_shape = (4, SIZE, SIZE)

    def action_to_text(game, state, action):
        if action == PASS:
            return "pass"
        end = game.target(state, action)
        cells = [end] if action < CELLS else [action % CELLS, end]
        return "".join(cell_to_text(cell // SIZE, cell % SIZE, SIZE) for cell in cells)

    def draw(game, state, marks):
        return draw_board(characters(state), SIZE, {game.target(state, action): mark for action, mark in marks.items()})

    def picture(game, state, legal, history):
        return Picture(
            squares(SIZE, SIZE),
            (Player("Red", "red"), Player("Blue", "blue")),
            pieces_from(characters(state), {"X": (0, "disc"), "O": (1, "disc")}),
            {
                action: (action,) if action < CELLS else (action % CELLS, game.target(state, action))
                for action in legal
                if action != PASS
            },
            buttons=[Button(PASS, "Pass", "P")] if PASS in legal else [],
            steps=("Stone to jump, or cell to multiply into", "Cell to jump to"),
        )


def characters(state):
    return [".XO"[has_bit(state.stones[0], cell) + 2 * has_bit(state.stones[1], cell)] for cell in range(CELLS)]
