"""Dots and Boxes: two players draw the lines between dots, and own the boxes that they close.

A move draws one line, horizontal or vertical, between two neighbouring dots. A player who closes a box, or two at once,
owns them and moves again. When all lines are drawn, the player with more boxes wins.

Source: E. Berlekamp, The Dots and Boxes Game, 2000.

Dots, lines and boxes are the cells of a board of 2 rows + 1 by 2 columns + 1 cells. Its lines are every second cell,
so line k is cell 2 k + 1:

    + 0 + 1 + 2 +       dots, and the lines 0 to 2
    3   4   5   6       lines 3 to 6, and between them the boxes 0 to 2
    + 7 + 8 + 9 +       A box has the number of the line above it.
"""

from typing import NamedTuple

import numpy as np

from azero.authoring import (
    DRAW,
    LOSS,
    ONGOING,
    WIN,
    ZERO,
    BadInput,
    Picture,
    Places,
    Player,
    Symmetries,
    bit,
    board_symmetries,
    cell_to_text,
    count_bits,
    draw_board,
    has_bit,
    low_bits,
    lowest_bit,
    mix,
    pieces_from,
    squares,
    subroutine,
)


@subroutine
def free_lines(game, state):
    return low_bits(2 * game.rows * game.columns + game.rows + game.columns) & ~state.lines


class DotsAndBoxes(NamedTuple):
    """Players draw lines between dots. Who closes a box owns it and moves again. More boxes win."""

    rows: int = 3
    columns: int = 3

    def reset(game, state):
        state.lines = ZERO
        state.boxes[:] = ZERO
        state.player = 0

    def legal_actions(game, state, out):
        count = 0
        free = free_lines(game, state)
        while free:
            out[count] = lowest_bit(free)
            free &= free - np.uint64(1)
            count += 1
        return count

    def apply_action(game, state, action):
        state.lines |= bit(action)
        columns, step = game.columns, 2 * game.columns + 1  # a box's lines: above, left, right, below
        sides = bit(0) | bit(columns) | bit(columns + 1) | bit(step)
        closes = False
        for offset in (0, columns, columns + 1, step):
            box = action - offset  # if the line is this side of a box
            is_box = 0 <= box < game.rows * step and box % step < columns
            if is_box and state.lines >> np.uint64(box) & sides == sides:
                state.boxes[state.player] |= bit(box)
                closes = True
        if not closes:
            state.player = 1 - state.player

    def current_player(game, state):
        return state.player

    def outcome(game, state):
        if free_lines(game, state):
            return ONGOING
        margin = game.final_score(state)
        return WIN if margin > 0 else LOSS if margin < 0 else DRAW

    def final_score(game, state):
        return np.int64(count_bits(state.boxes[0])) - np.int64(count_bits(state.boxes[1]))

    def ownership(game, state, owners):
        owners[:] = 0
        for row in range(game.rows):
            for column in range(game.columns):
                box = row * (2 * game.columns + 1) + column
                owners[2 * row + 1, 2 * column + 1] = 1 if has_bit(state.boxes[0], box) else -1

    def encode(game, state, planes):
        width = 2 * game.columns + 1
        margin = game.final_score(state) if state.player == 0 else -game.final_score(state)
        planes[:4] = 0
        planes[4] = margin / (game.rows * game.columns)
        for cell in range(1, width * (2 * game.rows + 1), 2):
            planes[0 if has_bit(state.lines, cell // 2) else 1, cell // width, cell % width] = 1
        for row in range(game.rows):
            for column in range(game.columns):
                box = row * width + column
                planes[2, 2 * row + 1, 2 * column + 1] = has_bit(state.boxes[state.player], box)
                planes[3, 2 * row + 1, 2 * column + 1] = has_bit(state.boxes[1 - state.player], box)

    def hash_key(game, state):
        margin = np.uint64(64 + game.final_score(state))
        return mix(mix(mix(state.lines) ^ margin) ^ np.uint64(state.player))

    def target(game, state, action):
        return 2 * action + 1

    def symmetries(game):
        cells = board_symmetries(2 * game.rows + 1, 2 * game.columns + 1)
        return Symmetries(cells, cells[:, 1::2] // 2)

    def places(game):
        return Places(1, 0, 2 * np.arange(game.num_actions, dtype=np.int32) + 1)

    def ranges(game):
        return {"rows": (1, 10), "columns": (1, 10)}

    def check(game):
        if game.num_actions > 63:
            raise BadInput(f"{game.rows} x {game.columns} boxes have {game.num_actions} lines, more than 63")

    state_dtype = np.dtype([("lines", np.uint64), ("boxes", np.uint64, 2), ("player", np.int64)], align=True)
    num_actions = property(lambda game: 2 * game.rows * game.columns + game.rows + game.columns)
    max_plies = num_actions
    planes_shape = property(lambda game: (5, 2 * game.rows + 1, 2 * game.columns + 1))

    def action_to_text(game, state, action):
        width = 2 * game.columns + 1
        cell = 2 * action + 1
        return cell_to_text(cell // width, cell % width, 2 * game.rows + 1)

    def draw(game, state, marks):
        marks = {game.target(state, action): mark for action, mark in marks.items()}
        return draw_board(characters(game, state), 2 * game.columns + 1, marks)

    def picture(game, state, legal, history):
        return Picture(
            squares(2 * game.rows + 1, 2 * game.columns + 1, "plain"),
            (Player("Red", "red"), Player("Blue", "blue")),
            pieces_from(
                characters(game, state),
                {"X": (0, "disc"), "O": (1, "disc"), "-": (None, "blocked"), "|": (None, "blocked")},
            ),
            {action: (game.target(state, action),) for action in legal},
        )


def characters(game, state):
    """Returns the cells of the board: + dots, - and | lines, X and O the boxes of the players."""
    cells = []
    for row in range(2 * game.rows + 1):
        for column in range(2 * game.columns + 1):
            line = len(cells) // 2
            if row % 2 == 0 and column % 2 == 0:
                cells.append("+")
            elif row % 2 and column % 2:
                box = row // 2 * (2 * game.columns + 1) + column // 2
                cells.append(" XO"[has_bit(state.boxes[0], box) + 2 * has_bit(state.boxes[1], box)])
            else:
                cells.append("-|"[row % 2] if has_bit(state.lines, line) else ".")
    return cells
