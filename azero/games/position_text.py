"""Positions as text: a board in one line, or as it is drawn, then the player to move. The players are X and O.

Turns of several actions, too.
"""

import re
from collections.abc import Sequence

import numpy as np

from azero.compiler.jit import kernel
from azero.compiler.plain import call
from azero.errors import BadInput
from azero.games.contract import ONGOING, Rules

PLAYERS = "XO"
"""The stones of the first and of the second player."""

_NAMES = re.compile("[a-z0-9 ]*")  # of the columns


def board_to_text(cells: Sequence[str], width: int, *fields: str) -> str:
    """Returns a board and further fields in one line, e.g. `1X1/O2/3 X`: a number is that many empty cells.

    Args:
      cells: [H * W] one character per cell, by rows from the top left; `.` is an empty cell.
    """
    rows = ("".join(cells[begin : begin + width]) for begin in range(0, len(cells), width))
    board = "/".join(re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows)
    return " ".join([board, *fields])


def text_to_board(text: str, height: int, width: int, kinds: str = PLAYERS) -> tuple[str, list[str]]:
    """Returns the cells of a board, [H * W] characters by rows from the top left, and the fields that follow it.

    Args:
      text: what `board_to_text` returns, or a drawn board, with or without the names of rows and columns. The fields of
        a drawn board are in the lines below it.
      kinds: the characters of cells that are not empty.

    Raises:
      BadInput: it is no board of this size.
    """
    lines = text.strip().splitlines()
    if len(lines) > 1:
        rows, fields = _read_drawn(lines, height, f"{kinds}.")
    else:
        board, *fields = text.split() or [""]
        rows = board.split("/")
        if len(rows) == height:
            if max(map(len, rows)) > width:  # each character is a cell or more
                raise BadInput(f"the board has {width} columns, but a row has more")
            rows = [re.sub("[1-9][0-9]?", lambda run: "." * int(run[0]), row) for row in rows]
    if len(rows) != height:
        raise BadInput(f"the board has {height} rows, not {len(rows)}")
    for number, row in enumerate(rows, start=1):
        if wrong := row.lstrip(f"{kinds}."):
            raise BadInput(f"row {number} from the top has {wrong[0]!r}; a cell is one of {' '.join(kinds)} .")
        if len(row) != width:
            raise BadInput(f"the board has {width} columns, but row {number} from the top has {len(row)} cells")
    return "".join(rows), fields


def _read_drawn(lines: list[str], height: int, kinds: str) -> tuple[list[str], list[str]]:
    """Returns the rows of a drawn board, without the names of rows and columns, and the words below the board."""
    rows: list[str] = []
    fields: list[str] = []
    for line in lines:
        words = line.split()
        if words and words[0].isdigit():
            del words[0]
        is_row = len(rows) < height and (set("".join(words)) <= set(kinds) or not _NAMES.fullmatch(" ".join(words)))
        if words and is_row:
            rows.append("".join(words))
        elif not _NAMES.fullmatch(" ".join(words)):
            fields += words
    return rows, fields


def read_player(fields: Sequence[str], expected: int | None = None) -> int:
    """Returns the player to move, 0 or 1, whom the only field names, X or O.

    Args:
      expected: the player to move by the number of stones; then the field may be missing. None: the board may be that
        of either player.
    """
    if not fields and expected is not None:
        return expected
    if len(fields) != 1 or fields[0] not in ("X", "O"):
        found = f"not with {' '.join(fields)!r}" if fields else "since the board does not tell"
        raise BadInput(f"it should end with the player to move, X or O, {found}")
    player = PLAYERS.index(fields[0])
    if expected not in (None, player):
        raise BadInput(f"{fields[0]} is to move, but by the number of stones it is {PLAYERS[1 - player]}'s turn")
    return player


def count_plies(cells: str) -> int:
    """Returns the number of stones on a board that players fill in turn; raises BadInput if it cannot be."""
    first, second = (cells.count(stone) for stone in PLAYERS)
    if first - second not in (0, 1):
        raise BadInput(f"it has {first} X and {second} O; X has as many stones as O, or one more")
    return first + second


def read_row_game(text: str, height: int, width: int, k: int, exact: bool = False) -> tuple[str, int, bool]:
    """Reads a position of a game in which players put stones in turn, and k in a row win.

    Returns:
      The cells as `text_to_board` does, the number of plies, and whether the last move has won.
    """
    cells, fields = text_to_board(text, height, width)
    ply = count_plies(cells)
    read_player(fields, ply & 1)
    to_move, last = PLAYERS[ply & 1], PLAYERS[1 - (ply & 1)]
    if cells_in_rows(cells, width, to_move, k, exact):
        raise BadInput(f"{to_move} has {k} in a row already, so {last} could not have moved")
    return cells, ply, bool(cells_in_rows(cells, width, last, k, exact))


def cells_in_rows(cells: Sequence[str], width: int, stone: str, k: int, exact: bool = False) -> list[int]:
    """Returns the cells of all rows of k stones or more, in lines, columns and diagonals, in ascending order.

    Args:
      cells: [H * W] one character per cell, by rows from the top left.
      exact: whether only rows of exactly k stones count.
    """
    numbers = np.arange(len(cells)).reshape(-1, width)
    offsets = range(1 - len(numbers), width)
    diagonals = [np.diagonal(each, offset) for each in (numbers, np.fliplr(numbers)) for offset in offsets]
    pattern = f"(?<!{stone}){stone}{{{k}}}(?!{stone})" if exact else f"{stone}{{{k},}}"
    found: set[int] = set()
    for line in [*numbers, *numbers.T, *diagonals]:
        for row in re.finditer(pattern, "".join(cells[cell] for cell in line)):
            found.update(line[row.start() : row.end()].tolist())
    return sorted(found)


def put_stones(rules, state, cells: str) -> tuple[bool, bool]:
    """Puts the stones of a board one after another, as the rules do it. Whose turn it is must depend on `state.ply`.

    Fields that the rules derive from the board, such as keys, follow. `state.ply` is not valid afterwards.

    Args:
      cells: [H * W] characters X, O and `.`; the number of a cell is that of its action.

    Returns:
      For each player, whether the game was over after one of the player's stones.
    """
    players = np.array([f"{PLAYERS}.".index(cell) for cell in cells], np.int64)
    is_over = np.zeros(2, np.bool_)
    call(_put_stones, rules, state, players, is_over)
    return bool(is_over[0]), bool(is_over[1])


@kernel
def _put_stones(rules, state, players, is_over):
    for cell in range(len(players)):
        player = players[cell]
        if player < 2:
            state.ply = player
            rules.apply_action(state, cell)
            is_over[player] |= rules.outcome(state) != ONGOING


def turn_to_text(rules: Rules, actions: Sequence[str]) -> str:
    """Returns a turn, given its actions in the game's notation, as the text that `azero play` and `--moves` accept.

    E.g. `d1-d7/g7` in Amazons. If the joined text would be read as other actions, commas separate them: `3,5`.
    """
    actions = list(actions)
    written = (separator.join(actions) for separator in ("", ",", " "))
    return next((text for text in written if rules.split_moves(text) == actions), " ".join(actions))


def apply_action(rules, state, action: int) -> None:
    """Plays an action, legal or not, by compiled rules."""
    call(_apply_action, rules, state, np.int64(action))


@kernel
def _apply_action(rules, state, action):
    rules.apply_action(state, action)
