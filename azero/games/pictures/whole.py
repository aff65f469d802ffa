"""The picture of a position by its game, with the texts of moves and the cells that decided the game."""

import dataclasses

from azero.compiler.plain import plain_python
from azero.games.contract import Rules
from azero.games.pictures.picture import Picture


def picture_of(rules: Rules, record, legal: list[int], history: list[int]) -> Picture:
    """Returns the picture that the rules make, completed.

    Args:
      record: the position.
      legal: its legal actions.
      history: the actions that led to it, if they are known.
    """
    with plain_python():  # nothing waits for the compiler
        picture = rules.picture(record, legal, history)
        moves = {action: rules.action_to_text(record, action) for action in legal}
        winning = picture.winning or ([] if legal else rules.winning_cells(record))
    return dataclasses.replace(picture, moves=moves, winning=winning, is_path=_is_path(picture, winning))


def _is_path(picture: Picture, cells: list[int]) -> bool:
    """Returns whether each of these cells is next to the one before it, and there are several."""
    places = [(picture.board.cells[cell].x, picture.board.cells[cell].y) for cell in cells]
    steps = [(abs(x - a), abs(y - b)) for (a, b), (x, y) in zip(places, places[1:], strict=False)]
    return bool(steps) and all(max(step) < 1.01 for step in steps)
