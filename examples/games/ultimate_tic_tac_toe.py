"""Ultimate tic-tac-toe: nine small boards of tic-tac-toe are the cells of a large one.

A player marks a cell of a small board. The opponent must then play in the small board that lies where this cell lies
in its own: a mark at the top left of any board sends to the top left board. Three in a row win a small board, and no
more marks are made there. Who is sent to a board that is won or full plays in any other one. Three small boards in a
row win the game. If all boards are won or full, it is a draw.

Source of the rules: https://en.wikipedia.org/wiki/Ultimate_tic-tac-toe
"""

from typing import NamedTuple

import numpy as np

from azero.authoring import (
    DRAW,
    LOSS,
    ONGOING,
    WIN,
    Symmetries,
    board_symmetries,
    cell_to_text,
    draw_grid,
    mix,
    subroutine,
)

FULL = 0b111_111_111
LINES = (0b111, 0b111000, 0b111000000, 0b001001001, 0b010010010, 0b100100100, 0b100010001, 0b001010100)
HAS_LINE = np.array([any(marks & line == line for line in LINES) for marks in range(512)], np.int64)
COMPLETING = np.array(
    [sum(1 << k for k in range(9) if HAS_LINE[marks | 1 << k] and not marks >> k & 1) for marks in range(512)], np.int64
)
ANY = 9  # the value of `board` if the mover may choose the small board

# The cells of the 9 x 9 grid are numbered by rows. Small boards, and the places in each, are numbered in the same way.
BOARD = np.array([row // 3 * 3 + column // 3 for row in range(9) for column in range(9)], np.int64)
PLACE = np.array([row % 3 * 3 + column % 3 for row in range(9) for column in range(9)], np.int64)
CELL = np.array([[9 * (3 * (b // 3) + p // 3) + 3 * (b % 3) + p % 3 for p in range(9)] for b in range(9)], np.int64)


@subroutine
def free_places(state, board):
    """Returns where a mark can be made in a small board, as bits."""
    if state.closed >> board & 1 or (state.board != ANY and state.board != board):
        return 0
    return FULL & ~(state.marks[0, board] | state.marks[1, board])


@subroutine
def chances(state, player, board):
    """Returns where one more mark of a player wins a small board, as bits."""
    if state.closed >> board & 1:
        return 0
    return COMPLETING[state.marks[player, board]] & ~state.marks[1 - player, board]


class UltimateTicTacToe(NamedTuple):
    """Three small boards in a row win. Each mark decides on which small board the opponent plays."""

    def reset(game, state):
        state.marks[:] = 0
        state.won[:] = 0
        state.closed = 0
        state.board = ANY
        state.mover = 0

    def legal_actions(game, state, out):
        count = 0
        for cell in range(81):
            if free_places(state, BOARD[cell]) >> PLACE[cell] & 1:
                out[count] = cell
                count += 1
        return count

    def apply_action(game, state, action):
        board, place, mover = BOARD[action], PLACE[action], state.mover
        state.marks[mover, board] |= 1 << place
        if HAS_LINE[state.marks[mover, board]]:
            state.won[mover] |= 1 << board
            state.closed |= 1 << board
        elif state.marks[0, board] | state.marks[1, board] == FULL:
            state.closed |= 1 << board
        state.board = ANY if state.closed >> place & 1 else place
        state.mover = 1 - mover

    def current_player(game, state):
        return state.mover

    def outcome(game, state):
        if HAS_LINE[state.won[0]]:
            return WIN
        if HAS_LINE[state.won[1]]:
            return LOSS
        return DRAW if state.closed == FULL else ONGOING

    def encode(game, state, planes):
        mover = state.mover
        for cell in range(81):
            board, place = BOARD[cell], PLACE[cell]
            row, column = cell // 9, cell % 9
            planes[0, row, column] = state.marks[mover, board] >> place & 1
            planes[1, row, column] = state.marks[1 - mover, board] >> place & 1
            planes[2, row, column] = free_places(state, board) >> place & 1
            planes[3, row, column] = state.won[mover] >> board & 1
            planes[4, row, column] = state.won[1 - mover] >> board & 1
            planes[5, row, column] = state.closed >> board & 1
            planes[6, row, column] = place == 4  # the middles tell a net where the small boards are
            planes[7, row, column] = chances(state, mover, board) >> place & 1
            planes[8, row, column] = chances(state, 1 - mover, board) >> place & 1
            # Of the board that a mark here sends to, which may be far away in the grid.
            planes[9, row, column] = state.closed >> place & 1
            planes[10, row, column] = chances(state, mover, place) != 0
            planes[11, row, column] = chances(state, 1 - mover, place) != 0

    def hash_key(game, state):
        key = mix(np.uint64(state.mover + 2 * state.board))
        for board in range(9):
            key = mix(key ^ np.uint64(state.marks[0, board] + 512 * state.marks[1, board]))
        return key

    state_dtype = np.dtype(
        [
            ("marks", np.int16, (2, 9)),  # of each player in each small board, as bits
            ("won", np.int16, (2,)),  # small boards, as bits
            ("closed", np.int16),  # small boards that are won or full
            ("board", np.int8),  # where the mover must play, or ANY
            ("mover", np.int8),
        ],
        align=True,
    )
    num_actions = 81  # the cells of the 9 x 9 grid, by rows
    max_plies = 81
    planes_shape = (12, 9, 9)

    def symmetries(game):
        cells = board_symmetries(9, 9)
        return Symmetries(cells, cells)

    def action_to_text(game, state, action):
        return cell_to_text(action // 9, action % 9, 9)

    def draw(game, state, marks):
        texts = []
        for cell in range(81):
            board, place = BOARD[cell], PLACE[cell]
            kind = (state.marks[0, board] >> place & 1) + 2 * (state.marks[1, board] >> place & 1)
            texts.append(marks.get(cell, ".XO"[kind]))
        first, last = (CELL[state.board, place] for place in (6, 2)) if state.board != ANY else (72, 8)
        where = f"{cell_to_text(first // 9, first % 9, 9)} to {cell_to_text(last // 9, last % 9, 9)}"
        grid = draw_grid([texts[9 * row : 9 * row + 9] for row in range(9)], "abcdefghi", "987654321")
        return f"{grid}\nThe next mark is from {where}."
