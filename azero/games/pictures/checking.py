"""The picture of a position: the game's own, if it keeps the laws of a picture, or the default.

A picture has known styles and shapes, each cell has its own name, each action is in it once.
"""

import dataclasses
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from azero.compiler.plain import plain_python
from azero.errors import BadInput
from azero.games.contract import Rules
from azero.games.pictures.default import default_picture
from azero.games.pictures.picture import COLOURS, KINDS, SHAPES, STYLES, Board, Picture
from azero.games.reasons import short


def picture_of(rules: Rules, record: np.record, legal: list[int], history: list[int]) -> Picture:
    """Returns the picture of a position. If the game's own is not right, it is the default, with `problem`.

    Args:
      legal: the legal actions.
      history: the actions that led to the position, if they are known.
    """
    with plain_python():  # nothing waits for the compiler
        try:
            return own_picture(rules, record, legal, history)
        except BadInput as error:
            picture = default_picture(rules, record, legal)
            return dataclasses.replace(picture, moves=_moves(rules, record, legal), problem=str(error))


def own_picture(rules: Rules, record: np.record, legal: list[int], history: list[int]) -> Picture:
    """Returns the picture that the rules make, completed; raises BadInput if it is not right."""
    picture = rules.picture(record, list(legal), list(history))
    winning = picture.winning or ([] if legal else rules.winning_cells(record))
    picture = dataclasses.replace(picture, moves=_moves(rules, record, legal), winning=winning)
    if user_game := getattr(type(rules), "file_name", None):  # the tests check azero's own games
        check_picture(picture, legal, f"{user_game}.picture")
    return dataclasses.replace(picture, is_path=_is_path(picture))


def _moves(rules: Rules, record: np.record, legal: list[int]) -> dict[int, str]:
    """Returns the legal actions in the game's notation, or by their numbers if it fails."""
    try:
        return {action: rules.action_to_text(record, action) for action in legal}
    except BadInput:
        return {action: str(action) for action in legal}


def _is_path(picture: Picture) -> bool:
    """Returns whether the winning cells are a line: neighbours in one direction, or on hexagons in any directions."""
    places = [(picture.board.cells[cell].x, picture.board.cells[cell].y) for cell in picture.winning]
    steps = [(round(x - a, 2), round(y - b, 2)) for (a, b), (x, y) in itertools.pairwise(places)]
    is_straight = len(set(steps)) == 1 or picture.board.style == "hexes"
    return bool(steps) and is_straight and all(max(abs(x), abs(y)) <= 1 for x, y in steps)


def check_picture(picture: Picture, legal: Sequence[int], what: str) -> None:
    """Raises BadInput if a law is broken.

    Args:
      legal: the legal actions.
      what: the method that has made the picture, e.g. `my_game.py:MyGame.picture`.
    """
    if not isinstance(picture, Picture) or not isinstance(picture.board, Board):
        raise BadInput(f"{what} returns {short(picture)}; it should be a Picture with a Board")
    for laws in (_broken_by_board, _broken_by_pieces, _broken_by_actions, _broken_by_steps):
        try:
            broken = next(laws(picture, legal), None)
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            broken = f"has something of a wrong type: {type(error).__name__}: {error}"
        if broken:
            raise BadInput(f"{what}: {broken}")


def shared_clicks(picture: Picture) -> list[list[int]]:
    """Returns the actions whose cells are those of other actions, too, in groups."""
    by_cells: dict[tuple[int, ...], list[int]] = {}
    for action, cells in picture.clicks.items():
        by_cells.setdefault(tuple(cells), []).append(action)
    return [actions for actions in by_cells.values() if len(actions) > 1]


def _broken_by_board(picture: Picture, legal: Sequence[int]) -> Iterator[str]:
    """Yields what is wrong with the board and the players."""
    board = picture.board
    yield from _one_of("style", [board.style], STYLES)
    yield from _one_of("shape of a cell", (cell.shape for cell in board.cells), SHAPES)
    yield from _one_of("tone of a cell", (cell.tone for cell in board.cells), (0, 1, None))
    yield from _one_of("colour of a player", (player.colour for player in picture.players), COLOURS)
    if len(picture.players) != 2 or picture.players[0].name == picture.players[1].name:
        yield f"players are {short(picture.players)}; they should be two, with different names"
    numbers = [board.width, board.height, *(x for cell in board.cells for x in (cell.x, cell.y))]
    numbers += [x for text in (*board.labels, *picture.texts) for x in (text.x, text.y)]
    numbers += [x for several in (*board.lines, *board.dots) for x in several]
    numbers += [x for edge in board.edges for point in edge.points for x in point]
    if not all(isinstance(x, int | float | np.number) and math.isfinite(x) for x in numbers):
        yield "a length or a place is not a finite number"
    if board.width <= 0 or board.height <= 0:
        yield f"width and height are {board.width:g} and {board.height:g}; they should be positive"
    texts = [text.text for text in (*board.labels, *picture.texts)]
    if wrong := [each for each in texts if not isinstance(each, str)]:
        yield f"{short(wrong[0])} is no text"
    known: dict[str, int] = {}
    for number, cell in enumerate(board.cells):
        if not isinstance(cell.name, str) or not cell.name.strip():
            yield f"cell {number} is named {short(cell.name)}; a name should be text"
        if known.setdefault(cell.name, number) != number:
            yield f"cells {known[cell.name]} and {number} are both named {cell.name!r}"
    in_rows = sorted(cell for row in board.rows for cell in row if cell is not None)
    if in_rows != list(range(len(board.cells))):
        yield f"rows have the cells {short(in_rows)}; each of the {len(board.cells)} cells should be in them once"
    yield from _one_of("player of an edge", (edge.player for edge in board.edges), (0, 1))


def _broken_by_pieces(picture: Picture, legal: Sequence[int]) -> Iterator[str]:
    """Yields what is wrong with what lies on the board."""
    yield from _outside(picture, "the place of a piece", (piece.cell for piece in picture.pieces))
    yield from _outside(picture, "a winning cell", picture.winning)
    yield from _one_of("player of a piece", (piece.player for piece in picture.pieces), (0, 1, None))
    yield from _one_of("kind of a piece", (piece.kind for piece in picture.pieces), KINDS)
    if wrong := [piece.text for piece in picture.pieces if not isinstance(piece.text, str)]:
        yield f"the text of a piece is {short(wrong[0])}; it should be text"


def _broken_by_actions(picture: Picture, legal: Sequence[int]) -> Iterator[str]:
    """Yields what is wrong with the cells and the buttons of actions."""
    known, pressed = set(legal), [button.action for button in picture.buttons]
    if wrong := [action for action in (*picture.clicks, *pressed) if action not in known]:
        yield f"action {short(wrong[0])} is not legal; legal actions: {short(list(legal))}"
    if twice := [action for action in pressed if action in picture.clicks or pressed.count(action) > 1]:
        yield f"action {twice[0]} is there twice, as a button and as cells or another button"
    for button in picture.buttons:
        if not isinstance(button.label, str) or not button.label:
            yield f"a button is labelled {short(button.label)}; it should be text"
    most = len(picture.steps) - picture.step
    for action, cells in picture.clicks.items():
        if not 1 <= len(cells) <= most:
            yield f"action {action} has {len(cells)} cells; it should have 1 to {most}, one for each step"
        yield from _outside(picture, f"a cell of action {action}", cells)
        if picture.drops is not None and not any(cells[0] in column for column in picture.drops):
            yield f"action {action} lands on cell {cells[0]}, which is in none of `drops`"


def _broken_by_steps(picture: Picture, legal: Sequence[int]) -> Iterator[str]:
    """Yields what is wrong with the steps of a turn and with columns in which pieces fall."""
    if not picture.steps or not all(isinstance(each, str) for each in picture.steps):
        yield f"steps are {short(picture.steps)}; they should be texts, at least one"
    if not 0 <= picture.step < len(picture.steps):
        yield f"step is {short(picture.step)}; there are {len(picture.steps)} steps, from 0"
    yield from _outside(picture, "one of `begun`", picture.begun)
    for column in picture.drops or ():
        yield from _outside(picture, "one of `drops`", column)


def _one_of(what: str, values: Iterable[object], known: Sequence[object]) -> Iterator[str]:
    for value in values:
        if value not in known:
            yield f"the {what} is {short(value)}; it should be one of {', '.join(map(str, known))}"


def _outside(picture: Picture, what: str, cells: Iterable[int]) -> Iterator[str]:
    for cell in cells:
        if not isinstance(cell, int | np.integer) or not 0 <= cell < len(picture.board.cells):
            yield f"{what} is cell {short(cell)}; cells are 0 to {len(picture.board.cells) - 1}"
