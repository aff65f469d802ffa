"""The picture of a game that has no `picture` of its own: the cells of its planes, and what `draw` shows on them."""

import numpy as np

from azero.games.pictures.picture import Board, Cell, Picture, Piece
from azero.games.pictures.players import UNNAMED

_EMPTY = ". _-+"
_STONES = {"X": 0, "x": 0, "O": 1, "o": 1}


def default_picture(rules, state, legal: list[int]) -> Picture:
    """Returns cells of the planes, the pieces on them, and for each cell the actions that take place there."""
    _, height, width = rules.planes_shape
    clicks = {}
    for action in legal:
        cell = int(rules.target(state, np.int64(action)))
        if 0 <= cell < height * width:
            clicks[action] = (cell,)
    characters = _drawn(rules.draw(state, {}), height, width)
    pieces = []
    for cell, character in enumerate(characters or ()):
        if character in _STONES:
            pieces.append(Piece(cell, _STONES[character], "disc"))
        elif character not in _EMPTY:
            pieces.append(Piece(cell, None, "text", character))
    if characters is None:
        pieces = _from_planes(rules, state, height, width)
    return Picture(_cells(height, width), UNNAMED, pieces, clicks)


def _cells(height: int, width: int) -> Board:
    """Returns a board whose cells are named by row and column, from the top left."""
    cells = tuple(
        Cell(f"row {row + 1}, column {column + 1}", column + 0.5, row + 0.5)
        for row in range(height)
        for column in range(width)
    )
    rows = tuple(tuple(range(row * width, (row + 1) * width)) for row in range(height))
    return Board("plain", width, height, cells, rows)


def _drawn(text: str, height: int, width: int) -> str | None:
    """Returns the characters of a drawn board, by rows from the top left; None if no lines look like its rows."""
    rows = []
    for line in text.splitlines():
        words = line.split()
        if len(words) == width + 1:
            del words[0]
        if len(words) == width and all(len(word) == 1 for word in words):
            rows.append("".join(words))
    return "".join(rows[:height]) if len(rows) >= height else None


def _from_planes(rules, state, height: int, width: int) -> list[Piece]:
    """Returns a text for each cell: the number of the first plane that is not zero there."""
    planes = np.zeros(rules.planes_shape, np.float32)
    rules.encode(state, planes)
    flat = planes.reshape(len(planes), -1)
    found = flat[(np.abs(flat) > 0).any(axis=1) & ~(flat == flat[:, :1]).all(axis=1)]
    return [
        Piece(cell, None, "text", str(int(np.flatnonzero(found[:, cell])[0]) + 1))
        for cell in range(height * width)
        if found[:, cell].any()
    ]
