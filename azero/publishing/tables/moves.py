"""The texts of moves, and the cells to click for them."""

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from azero.compiler.plain import plain_python
from azero.games import Game
from azero.games.pictures.picture import Picture
from azero.publishing.tables.seen import Seen

_ASKED = 40
"""Positions that are asked about an action which no random game had."""


class Forms(NamedTuple):
    """What the actions of a player are: texts and cells by action, None where no text or no cells are known."""

    texts: list[Any]  # a text, or two, of which `_is_second` says when the second one is used
    cells: list[list[int] | None]


def flag_of(game: Game, seen: Sequence[Seen]) -> int | None:
    """Returns the place in the planes where a number other than 0 means that actions have their second texts.

    None if the second texts are those of actions that go to others' pieces. Such a place is the first of a plane that
    is the same everywhere. E.g. it says which step of a turn is next.
    """
    planes, height, width = game.planes_shape
    board = np.array([each.planes for each in seen]).reshape(len(seen), planes, height * width)
    is_even = (board == board[:, :, :1]).all(axis=(0, 2))
    flags = [None, *(plane * height * width for plane in np.flatnonzero(is_even).tolist())]
    return next((flag for flag in flags if _decides(flag, seen)), None)


def _decides(flag: int | None, seen: Sequence[Seen]) -> bool:
    """Returns whether an action has one text, for each player and each value of a flag."""
    found = dict[tuple[int, int, bool], str]()
    for each in seen:
        for action in each.picture["actions"]:
            key = each.player, action["action"], _is_second(each, action["cells"], flag)
            if found.setdefault(key, action["move"]) != action["move"]:
                return False
    return True


def _is_second(seen: Seen, places: Sequence[int], flag: int | None) -> bool:
    """Returns whether an action with these cells has the second of its texts."""
    if flag is not None:
        return bool(seen.planes[flag] != 0)
    return bool(places) and places[-1] in seen.others


def forms_of(game: Game, seen: Sequence[Seen], player: int, flag: int | None) -> Forms:
    """Returns what the actions of a player are, by positions in which they are legal, or else by any."""
    own = [each for each in seen if each.player == player]
    texts: list[list[set[str]]] = [[set(), set()] for _ in range(game.num_actions)]
    cells: list[set[tuple[int, ...]]] = [set() for _ in range(game.num_actions)]

    def note(each: Seen, action: int, move: str, places: tuple[int, ...]) -> None:
        texts[action][_is_second(each, places, flag)].add(move)
        cells[action].add(places)

    def ask(number: int, needs_both: bool) -> None:
        num_asked = 0
        for each in own:
            known = next(iter(cells[number]), None)
            if known is not None and not needs_both:
                return
            if known is not None and texts[number][_is_second(each, known, flag)]:
                continue  # nothing would be new
            num_asked += 1
            for found in _asked(game, each, [number]).values():
                note(each, number, *found)
            if num_asked == _ASKED:
                return

    for each in own:
        for action in each.picture["actions"]:
            note(each, action["action"], action["move"], tuple(action["cells"]))
    unknown = [number for number in range(game.num_actions) if not cells[number]]
    for number, found in _asked(game, own[0], unknown).items():  # at once, which is faster
        note(own[0], number, *found)
    for number in unknown:
        ask(number, needs_both=False)
    forms = _with_both([_text_of(*each) for each in texts])
    if any(isinstance(form, list) for form in forms):
        for number, form in enumerate(forms):
            if isinstance(form, str):
                ask(number, needs_both=True)
        forms = _with_both([_text_of(*each) for each in texts])
    return Forms(forms, [list(*each) if len(each) == 1 else None for each in cells])


def _asked(game: Game, seen: Seen, actions: Sequence[int]) -> dict[int, tuple[str, tuple[int, ...]]]:
    """Returns texts and cells of actions that may not be legal, by action, as far as the methods tell."""
    rules, record, found = game.rules, seen.state.record, dict[int, tuple[str, tuple[int, ...]]]()
    with plain_python(), contextlib.suppress(Exception):  # the methods need not know actions that are not legal
        picture: Picture = rules.picture(record, list(actions), seen.state.history())
        for action in actions:
            places = tuple(int(cell) for cell in picture.clicks.get(action, ()))
            if all(0 <= cell < len(picture.board.cells) for cell in places):
                found[action] = rules.action_to_text(record, action), places
    return found


def _text_of(free: set[str], taken: set[str]) -> Any:
    """Returns a text; two of them if they differ; None if there is none, or more than one for the same."""
    if len(free) > 1 or len(taken) > 1 or not (free or taken):
        return None
    if free and taken and free != taken:
        return [*free, *taken]
    return next(iter(free or taken))


def _with_both(forms: list[Any]) -> list[Any]:
    """Returns texts with the second one where it was not seen, if all others differ from the first in the same part.

    E.g. all takings of Breakthrough have `x` where other moves have `-`.
    """
    parts = {_differing(*form) for form in forms if isinstance(form, list)}
    if len(parts) != 1:
        return forms
    ((free, taken),) = parts
    return [
        [form, form.replace(free, taken)] if isinstance(form, str) and free and form.count(free) == 1 else form
        for form in forms
    ]


def _differing(one: str, other: str) -> tuple[str, str]:
    """Returns the parts in which two texts differ."""
    begin = _same_length(one, other)
    end = _same_length(one[begin:][::-1], other[begin:][::-1])
    return one[begin : len(one) - end], other[begin : len(other) - end]


def _same_length(one: str, other: str) -> int:
    """Returns the number of characters with which both begin."""
    return next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def has_texts(seen: Seen, texts: Sequence[Sequence[Any]], flag: int | None) -> bool:
    """Returns whether the texts are those of the position's legal actions, and name each of them."""
    for action in seen.picture["actions"]:
        text = texts[seen.player][action["action"]]
        if isinstance(text, list):
            text = text[_is_second(seen, action["cells"], flag)]
        if text != action["move"]:
            return False
    return True
