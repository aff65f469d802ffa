"""Boards as they are shown in a game: the last move in (brackets), what decided the game in [brackets], and colours.

The rules draw a board as text. Its cells are found in this text, so every game whose board looks like one has marks.
"""

import re
from collections.abc import Sequence

from azero.games import State
from azero.games.position_text import PLAYERS

_EMPTY = "."
_NAMES = re.compile("[a-z0-9 ]*")  # of columns

COLOURS = "31", "36"  # of the first and the second player: red and cyan, which dark and light screens show
_DIM, _BOLD, _REVERSED = "2", "1", "7"

Place = tuple[int, int]
"""A line of text and a character in it, both counted from 0."""


def show_board(state: State, before: State | None = None, is_coloured: bool = False) -> str:
    """Returns the board. If its cells are found, those of the last turn and those that decided the game are marked.

    Args:
      before: the position before the last turn; None: there was none.
    """
    board = state.draw()
    places = find_cells(state, board)
    if not places:
        return board
    lines = [list(f"{line} ") for line in board.splitlines()]
    cells = [lines[y][x] for y, x in places]
    changed = _changed_cells(_cells_of(before), cells) if before else set()
    winning = set(state.game.rules.winning_cells(state.record)) if state.is_terminal() else set()
    _put_brackets(lines, places, winning, "[]")
    _put_brackets(lines, places, changed, "()")
    if is_coloured:
        for cell, (y, x) in enumerate(places):
            styles = [COLOURS[PLAYERS.index(cells[cell])]] if cells[cell] in PLAYERS else []
            styles += [_DIM] * (cells[cell] == _EMPTY) + [_BOLD] * (cell in changed) + [_REVERSED] * (cell in winning)
            lines[y][x] = styled(cells[cell], styles)
    return "\n".join("".join(line).rstrip() for line in lines)


def styled(text: str, styles: Sequence[str]) -> str:
    """Returns a text with the codes of these styles; the text itself without styles."""
    return f"\x1b[{';'.join(styles)}m{text}\x1b[0m" if styles else text


def find_cells(state: State, board: str) -> list[Place]:
    """Returns where each cell is in a drawn board, [H * W], by rows from the top left; nothing if that is not clear.

    A row is a line of single characters between spaces, perhaps after the row's name.
    """
    _, height, width = state.game.planes_shape
    rows = []
    for y, line in enumerate(board.splitlines()):
        words = list(re.finditer(r"\S+", line))
        is_row = len(words) - width in (0, 1) and all(len(word[0]) == 1 for word in words[-width:])
        if is_row and not _NAMES.fullmatch(line):
            rows.append([(y, word.start()) for word in words[-width:]])
    return [place for row in rows for place in row] if len(rows) == height else []


def side_names(start: State) -> tuple[str, str]:
    """Returns the names of the players: X and O if these are their pieces on the board, otherwise first and second."""
    after = start.clone()
    if not after.is_terminal():
        after.apply_action(after.legal_actions()[0])
    has_pieces = any(cell in PLAYERS for state in (start, after) for cell in _cells_of(state))
    return (PLAYERS[0], PLAYERS[1]) if has_pieces else ("first", "second")


def _cells_of(state: State) -> list[str]:
    """Returns what is drawn in each cell, by rows from the top left; nothing if the cells are not found."""
    board = state.draw()
    lines = board.splitlines()
    return [lines[y][x] for y, x in find_cells(state, board)]


def _changed_cells(before: Sequence[str], after: Sequence[str]) -> set[int]:
    """Returns the cells onto which the last turn put something.

    Where a piece took the other player's, that is among them only if nothing was put onto an empty cell. So a stone is
    marked, but not those that it turns over.
    """
    pairs = enumerate(zip(before, after, strict=False))  # one of them may have no cells
    changed = {cell: pair for cell, pair in pairs if pair[1] not in (pair[0], _EMPTY)}
    return {cell for cell, (old, new) in changed.items() if old == _EMPTY or new not in PLAYERS} or set(changed)


def _put_brackets(lines: list[list[str]], places: Sequence[Place], marked: set[int], brackets: str) -> None:
    """Puts brackets around cells, in the spaces beside them. Neighbours in a row share a pair."""
    taken = {places[cell] for cell in marked if 0 <= cell < len(places)}
    for y, x in taken:
        if x > 0 and (y, x - 2) not in taken:
            lines[y][x - 1] = brackets[0]
        if (y, x + 2) not in taken:
            lines[y][x + 1] = brackets[1]
