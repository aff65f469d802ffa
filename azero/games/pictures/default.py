"""The picture of a game without a `picture` of its own: the cells of its planes, with the characters of `draw`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from azero.compiler.plain import plain_python, wide_copy
from azero.errors import BadInput
from azero.games.contract import Rules
from azero.games.pictures.picture import UNNAMED, Board, Cell, Label, Picture, Piece

_KINDS = {"X": (0, "disc"), "x": (0, "disc"), "O": (1, "disc"), "o": (1, "disc"), "#": (None, "blocked")}
_EMPTY = ".-_"
_MOST_CELLS = 2500  # a board of more cells would be too small to click on


class _Drawn(NamedTuple):
    """A board that was read from text: its characters by rows from the top left, and names, empty if there are none."""

    characters: str
    columns: Sequence[str]
    rows: Sequence[str]


def default_picture(rules: Rules, record: np.record, legal: Sequence[int]) -> Picture:
    """Returns cells of the planes, each with the actions whose `target` it is. It never fails.

    Above `_MOST_CELLS` it is an empty board, beside which the page has the list of moves.

    `draw` is read if it has a line of single characters for each row of the planes. X and O are discs of the players,
    # is a blocked cell, and other characters are shown as they are. The names of rows and columns beside them become
    names of cells. Otherwise a cell shows the number of the first plane that is not 0 there.
    """
    _, height, width = rules.planes_shape
    if height * width > _MOST_CELLS:
        return Picture(Board("plain", 1, 1, (), ()), UNNAMED)
    drawn = _read(rules, record, height, width)
    with plain_python():
        clicks = _targets(rules, record, legal, height * width)
        texts = drawn.characters if drawn else _numbers_of_planes(rules, record, height * width)
    pieces = [
        Piece(cell, *_KINDS[text]) if drawn and text in _KINDS else Piece(cell, None, "text", text)
        for cell, text in enumerate(texts)
        if text not in _EMPTY
    ]
    return Picture(_board(height, width, drawn), UNNAMED, pieces, clicks)


def _board(height: int, width: int, drawn: _Drawn | None) -> Board:
    """Returns the cells. Their names are those of column and row, such as `a1`, if the drawn board tells them."""
    places = [(row, column) for row in range(height) for column in range(width)]
    names = [f"row {row + 1}, column {column + 1}" for row, column in places]
    if drawn and drawn.columns and drawn.rows:
        read = [drawn.columns[column] + drawn.rows[row] for row, column in places]
        names = read if len(set(read)) == len(read) else names
    cells = [Cell(name, column + 0.5, row + 0.5) for name, (row, column) in zip(names, places, strict=True)]
    labels = []
    if drawn and drawn.columns:
        labels += [Label(name, column + 0.5, height + 0.4) for column, name in enumerate(drawn.columns)]
    if drawn and drawn.rows:
        labels += [Label(name, -0.4, row + 0.5) for row, name in enumerate(drawn.rows)]
    rows = [range(row * width, (row + 1) * width) for row in range(height)]
    return Board("plain", width, height, cells, rows, labels)


def _read(rules: Rules, record: np.record, height: int, width: int) -> _Drawn | None:
    """Returns what `draw` shows; None if no block of lines looks like the rows of the planes."""
    try:
        lines = [line.split() for line in rules.draw(record, {}).splitlines()]
    except BadInput:
        return None
    for has_names in (True, False):
        blocks = [_read_at(lines, begin, height, width, has_names) for begin in range(len(lines) - height + 1)]
        if found := [block for block in blocks if block]:
            return max(found, key=lambda each: bool(each.columns))  # names of columns may look like a row, too
    return None


def _read_at(lines: list[list[str]], begin: int, height: int, width: int, has_names: bool) -> _Drawn | None:
    """Returns the board whose top row is in the line `begin`, if there is one."""
    block = lines[begin : begin + height]
    rows = [words[has_names:] for words in block]
    if not all(len(row) == width and all(len(word) == 1 for word in row) for row in rows):
        return None
    characters = "".join("".join(row) for row in rows)
    return _Drawn(characters, _columns(lines, begin, height, width), _rows(block) if has_names else [])


def _columns(lines: list[list[str]], begin: int, height: int, width: int) -> list[str]:
    """Returns the names in the line below the rows, or in the line above them; none if these are no names."""
    beside = [*lines[begin + height : begin + height + 1], *lines[max(0, begin - 1) : begin]]
    return next((each for each in beside if len(each) == width and _are_names(each)), [])


def _rows(block: list[list[str]]) -> list[str]:
    """Returns the first word of each line; none if these are no names."""
    names = [words[0] for words in block]
    return names if _are_names(names) else []


def _are_names(words: list[str]) -> bool:
    return len(set(words)) == len(words) and all(re.fullmatch(r"\w{1,3}", word) for word in words)


def _targets(rules: Rules, record: np.record, legal: Sequence[int], num_cells: int) -> dict[int, tuple[int]]:
    """Returns the cell of each action that has one; no cells at all if `target` fails."""
    wide = wide_copy(record)
    try:
        cells = {action: int(rules.target(wide, action)) for action in legal}
    except Exception:  # a mistake in the rules, which `azero check-game` names
        return {}
    return {action: (cell,) for action, cell in cells.items() if 0 <= cell < num_cells}


def _numbers_of_planes(rules: Rules, record: np.record, num_cells: int) -> list[str]:
    """Returns for each cell the number, from 1, of the first plane that is not 0 there; empty texts if `encode` fails.

    Planes that are the same everywhere tell nothing of cells, so they do not count.
    """
    planes = np.zeros(rules.planes_shape, np.float32)
    try:
        rules.encode(wide_copy(record), planes)
    except Exception:  # as above
        return []
    flat = planes.reshape(len(planes), num_cells)
    is_set = (flat != 0) & (flat != flat[:, :1]).any(axis=1)[:, None]
    return [str(int(np.argmax(cell)) + 1) if cell.any() else "." for cell in is_set.T]
