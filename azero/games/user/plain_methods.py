"""The methods of rules that are never compiled: their errors name the file and the line, and their results are checked.

Compiled methods are checked in `trial.py`.
"""

import functools
from collections.abc import Callable
from functools import partial

import numpy as np

from azero.errors import BadInput
from azero.games.pictures.picture import Picture
from azero.games.reasons import fails_with, place_of, short, without_digest


def _are_ranges(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    is_pair = [isinstance(each, tuple) and len(each) == 2 for each in value.values()]
    return all(is_pair) and all(isinstance(end, int | float | np.number) for each in value.values() for end in each)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _are_numbers(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, int | np.integer) for each in value)


def _are_tables(dimensions: int, value: object) -> bool:
    if not isinstance(value, tuple) or not all(isinstance(each, np.ndarray) for each in value):
        return False
    return [(each.ndim, each.dtype) for each in value] == 2 * [(dimensions, np.int32)]


def _are_places(value: object) -> bool:
    if not isinstance(value, tuple) or len(value) != 3:
        return False
    *counts, numbers = value
    is_count = [isinstance(each, int | np.integer) and each >= 0 for each in counts]
    return all(is_count) and isinstance(numbers, np.ndarray) and (numbers.ndim, numbers.dtype) == (1, np.int32)


def _shown(value: object) -> str:
    """Returns a value as messages show it: a tuple of arrays by their dtypes and shapes."""
    if isinstance(value, tuple) and value and all(isinstance(each, np.ndarray) for each in value):
        return " and ".join(f"{each.dtype} {list(each.shape)}" for each in value)
    return short(value)


_RETURNS: dict[str, tuple[Callable[[object], bool], str]] = {
    "ranges": (_are_ranges, "pairs by name, e.g. {'size': (2, 8)}"),
    "check": (lambda value: value is None, "None"),
    "symmetries": (partial(_are_tables, 2), "Symmetries(cells, actions), int32 [S, H * W] and int32 [S, A]"),
    "exchange": (partial(_are_tables, 1), "Exchange(cells, actions), int32 [H * W] and int32 [A]"),
    "places": (_are_places, "Places(planes, slots, numbers), two counts and int32 [A]"),
    "action_to_text": (lambda value: isinstance(value, str), "text"),
    "text_to_action": (lambda value: isinstance(value, int | np.integer), "the number of an action"),
    "split_moves": (_are_texts, "a list of texts"),
    "position_to_text": (lambda value: isinstance(value, str) and value.isprintable(), "text in one line"),
    "text_to_position": (lambda value: value is None, "None"),
    "draw": (lambda value: isinstance(value, str), "text"),
    "winning_cells": (_are_numbers, "a list of the numbers of cells"),
    "picture": (lambda value: isinstance(value, Picture), "a Picture of azero.authoring"),
}
"""For each method: whether a returned value is right, and what it should be."""

PLAIN_METHODS = tuple(_RETURNS)

_BY_BAD_INPUT = {
    "check": "for bad parameters it should raise azero.authoring.BadInput",
    "text_to_action": "for text that is no move it should raise azero.authoring.BadInput",
    "text_to_position": "for text that is no position it should raise azero.authoring.BadInput",
}
"""For methods that are to raise BadInput: in which case."""


def guarded(method: Callable, name: str, what: str, file: str) -> Callable:
    """Returns a method that raises BadInput if `method` fails or returns something wrong.

    Args:
      name: the method's name in the contract.
      what: its name in messages, e.g. `my_game.py:MyGame.draw`.
      file: the file in which it is written.
    """
    is_right, right = _RETURNS[name]
    hint = f"; {_BY_BAD_INPUT[name]}" if name in _BY_BAD_INPUT else ""

    @functools.wraps(method)
    def call(rules, *arguments, **named):
        try:
            value = method(rules, *arguments, **named)
        except BadInput as error:
            raise BadInput(without_digest(str(error))) from None
        except (Exception, SystemExit) as error:
            raise BadInput(f"{what} {fails_with(error, place_of(error, file))}{hint}") from None
        if not is_right(value):
            raise BadInput(f"{what} returns {_shown(value)}; it should be {right}{hint}")
        if name == "text_to_action" and not 0 <= value < rules.num_actions:
            text = named["text"] if "text" in named else arguments[-1]
            number = f"{short(value)} for {text!r}; it should be {right}, from 0 to {rules.num_actions - 1}"
            raise BadInput(f"{what} returns {number}{hint}")
        return value

    return call
