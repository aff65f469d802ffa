"""The picture of a position: by its game, or the default; with the texts of moves and the cells that decided it."""

import dataclasses
import itertools

import numpy as np

from azero.compiler.plain import plain_python
from azero.errors import BadInput
from azero.games.contract import Rules
from azero.games.pictures.checking import check_picture
from azero.games.pictures.default import default_picture
from azero.games.pictures.picture import Picture


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
