"""Local features of a move: the 3x3 cells around its target, and the action itself. Both are invariant to symmetries.

A cell takes two bits: 0 empty, 1 the mover's, 2 the opponent's (the first two planes), 3 off the board. The board has
one word per row, with a frame of cells off the board. So three cells of a row are six bits, and a pattern 18 bits.
"""

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.games import Game
from azero.games.boards import board_symmetries

NUM_PATTERNS = 1 << 18
NO_PATTERN = -1
"""The pattern of a move without a cell on the board."""

MAX_WIDTH = 30
"""Maximum of cells per row: a word holds these and two off the board."""

_OFF = np.uint64(0b11)
_THREE_CELLS = np.uint64(0b111111)
_ALL_OFF = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@subroutine
def write_rows(planes, rows):
    """Writes the board with its frame into `rows` ([H + 2] uint64): two bits per cell, the leftmost cell lowest."""
    _, height, width = planes.shape
    own, theirs = planes[0], planes[min(1, len(planes) - 1)]
    rows[0] = _ALL_OFF
    rows[height + 1] = _ALL_OFF
    for row in range(height):
        word = _OFF
        for back in range(1, width + 1):
            cell = np.uint64(own[row, width - back] > 0.5) | np.uint64(theirs[row, width - back] > 0.5) << 1
            word = word << 2 | cell
        rows[row + 1] = word << 2 | _OFF


@subroutine
def pattern_at(rows, width, cell):
    """Returns the pattern around a cell, in [0, NUM_PATTERNS); NO_PATTERN if `cell` is not on the board.

    Row r and column c of the pattern, from the top left, are its bits 6 r + 2 c and 6 r + 2 c + 1.
    """
    if cell < 0 or cell >= (len(rows) - 2) * width:
        return NO_PATTERN
    row, column = np.uint32(cell) // np.uint32(width), np.uint32(cell) % np.uint32(width)
    shift = np.uint64(2 * column)
    top = rows[row] >> shift & _THREE_CELLS
    middle = rows[row + np.uint32(1)] >> shift & _THREE_CELLS
    bottom = rows[row + np.uint32(2)] >> shift & _THREE_CELLS
    return np.int64(top | middle << 6 | bottom << 12)


@kernel
def count_legal(rules, states, scratch, counts):
    """Writes the number of legal actions of each of the states ([n]) into `counts` ([n] int64)."""
    for n in range(len(states)):
        scratch.states[0] = states[n]
        counts[n] = rules.legal_actions(scratch.states[0], scratch.legal)


@kernel
def write_features(rules, states, scratch, starts, patterns, actions):
    """Writes the features of all legal actions of the states ([n]); those of state k begin at place starts[k].

    Args:
      starts: [n + 1] int64.
      patterns: [starts[n]] int32, NO_PATTERN if an action has no cell.
      actions: [starts[n]] int32.
    """
    planes = scratch.planes
    for n in range(len(states)):
        scratch.states[0] = states[n]
        rules.encode(scratch.states[0], planes)
        write_rows(planes, scratch.rows)
        num_legal = rules.legal_actions(scratch.states[0], scratch.legal)
        for k in range(num_legal):
            action = np.int64(scratch.legal[k])
            cell = rules.target(scratch.states[0], action)
            patterns[starts[n] + k] = pattern_at(scratch.rows, planes.shape[2], cell)
            actions[starts[n] + k] = action


def pattern_classes(game: Game) -> np.ndarray:
    """Returns each pattern's class: the least pattern among its symmetric ones in this game, [NUM_PATTERNS] int32."""
    cells = np.arange(NUM_PATTERNS)[:, None] >> 2 * np.arange(9) & 3  # [NUM_PATTERNS, 9]
    places = 1 << 2 * np.arange(9)
    return np.min([cells[:, gather] @ places for gather in _pattern_symmetries(game)], axis=0).astype(np.int32)


def action_classes(game: Game) -> np.ndarray:
    """Returns each action's class: the least action among its symmetric ones in this game, [A] int32."""
    return game.symmetries.actions.min(axis=0).astype(np.int32)


def _pattern_symmetries(game: Game) -> list[np.ndarray]:
    """Returns the symmetries of a 3x3 pattern, as gathers [9], that are also symmetries of this game."""
    _, height, width = game.planes_shape
    own = {cells.tobytes() for cells in game.symmetries.cells}
    row, column = np.divmod(np.arange(height * width), width)
    found = []
    for gather in board_symmetries(3, 3):
        down, right = (np.divmod(gather[place], 3) for place in (7, 5))  # images of the cells below and to the right
        rows = (down[0] - 1) * row + (right[0] - 1) * column
        columns = (down[1] - 1) * row + (right[1] - 1) * column
        rows, columns = rows - rows.min(), columns - columns.min()
        is_of_board = rows.max() < height and columns.max() < width
        if is_of_board and (rows * width + columns).astype(np.int32).tobytes() in own:
            found.append(gather)
    return found
