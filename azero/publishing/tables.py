"""Tables from which a published page writes moves and draws positions, where Python is not there to do it.

Pictures and texts are Python methods of a game. The tables are found by looking at what these methods say in games
played at random. Other such games then check them: what fails is left out, and named.
"""

import contextlib
import functools
import itertools
import math
import random
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from azero.compiler.plain import call, plain_python
from azero.games import Game, State, kernels
from azero.games.pictures.default import default_picture
from azero.games.pictures.picture import Picture
from azero.games.position_text import cells_in_rows

Json = dict[str, Any]

_LEARNT, _CHECKED = 800, 300
"""Positions from which tables are made, and others by which they are checked."""

_ASKED = 40
"""Positions that are asked about an action which no random game had."""

_MOST_VALUES = 4
"""Values of a plane that mean the same kind of piece."""

_FEWEST_NUMBERS = 3
"""Different numbers on the board that may be those of a plane."""

_STILL = ("style", "width", "height", "cells", "rows", "labels", "lines", "dots", "edges", "players", "steps", "drops")
"""What does not change in a game's pictures if they can be drawn from tables."""

_KEYS = (*_STILL, "pieces", "step", "begun", "texts", "winning", "is_path", "problem", "actions", "buttons")


class _Seen(NamedTuple):
    """A position, and what the game's methods say of it."""

    state: State
    player: int  # to move, by the rules, even if the game is over
    planes: np.ndarray  # [C * H * W] float32
    run: list[int]  # the last actions, all of the player to move
    picture: Json
    others: set[int]  # the cells with a piece that is not the player's own


class _Forms(NamedTuple):
    """What the actions of a player are: texts and cells by action, None where no text or no cells are known."""

    texts: list[Any]  # a text, or two, of which `_is_second` says when the second one is used
    cells: list[list[int] | None]


@functools.lru_cache(maxsize=16)
def tables_of(game: Game, seed: int = 0) -> tuple[Json, list[str]]:
    """Returns the tables of a game, and what cannot be done by tables, in words.

    The page reads them in `scripts/pictures.js`, which says what they are. Nobody should change them.
    """
    chance = random.Random(seed)
    learnt, checked = _positions(game, chance, _LEARNT), _positions(game, chance, _CHECKED)
    lacks = list[str]()
    flag = _flag_of(game, learnt)
    forms = [_forms_of(game, learnt, player, flag) for player in (0, 1)]
    texts = [each.texts for each in forms]
    if not all(_has_texts(seen, texts, flag) for seen in (*learnt, *checked)):
        texts = [[str(action) for action in range(game.num_actions)]] * 2
        lacks.append("moves are written as numbers: their texts depend on more than the action and where it goes")
    tables: Json = {"texts": _once(texts), "flag": flag}
    for picture in _pictures_of(game, learnt, forms):
        if not all(_is_drawn(seen, picture) for seen in (*learnt, *checked)):
            continue
        winning = _winning_of(game, learnt + checked, picture)
        if winning is None and any(seen.picture["winning"] for seen in (*learnt, *checked)):
            lacks.append("the cells that decided a game are not marked")
        return {**tables, **picture, "cells": _once(picture["cells"]), "winning": winning}, lacks
    lacks.append("the picture is the plain board beside a list of moves")
    return {**tables, **_plain(game)}, lacks


def _positions(game: Game, chance: random.Random, most: int) -> list[_Seen]:
    """Returns positions of games played at random, to the end of the last one."""
    found = list[_Seen]()
    while len(found) < most:
        found += _positions_of_game(game, chance)
    return found


def _positions_of_game(game: Game, chance: random.Random) -> Iterator[_Seen]:
    state, movers = game.new_initial_state(), list[int]()
    while True:
        with plain_python():
            player = int(game.rules.current_player(state.record))
        others = [ply for ply, mover in enumerate(movers) if mover != player]
        run = state.history()[others[-1] + 1 if others else 0 :]
        planes = np.zeros(game.planes_shape, np.float32)
        call(kernels.encode, game.rules, state.record, planes)
        picture = game.picture(state).to_json()
        taken = {piece["cell"] for piece in picture["pieces"] if piece["player"] != player}
        yield _Seen(state.clone(), player, planes.ravel(), run, picture, taken)
        if state.is_terminal():
            return
        movers.append(player)
        state.apply_action(chance.choice(state.legal_actions()))


def _once(both: Sequence[Any]) -> list[Any]:
    """Returns what both players have, once if it is the same."""
    return [both[0]] if both[0] == both[1] else list(both)


# ---- actions


def _flag_of(game: Game, seen: Sequence[_Seen]) -> int | None:
    """Returns the place in the planes where a number other than 0 means that actions have their second texts.

    None if the second texts are those of actions that go to others' pieces. Such a place is the first of a plane that
    is the same everywhere. E.g. it says which step of a turn is next.
    """
    planes, height, width = game.planes_shape
    board = np.array([each.planes for each in seen]).reshape(len(seen), planes, height * width)
    is_even = (board == board[:, :, :1]).all(axis=(0, 2))
    flags = [None, *(plane * height * width for plane in np.flatnonzero(is_even).tolist())]
    return next((flag for flag in flags if _decides(flag, seen)), None)


def _decides(flag: int | None, seen: Sequence[_Seen]) -> bool:
    """Returns whether an action has one text, for each player and each value of a flag."""
    found = dict[tuple[int, int, bool], str]()
    for each in seen:
        for action in each.picture["actions"]:
            key = each.player, action["action"], _is_second(each, action["cells"], flag)
            if found.setdefault(key, action["move"]) != action["move"]:
                return False
    return True


def _is_second(seen: _Seen, places: Sequence[int], flag: int | None) -> bool:
    """Returns whether an action with these cells has the second of its texts."""
    if flag is not None:
        return bool(seen.planes[flag] != 0)
    return bool(places) and places[-1] in seen.others


def _forms_of(game: Game, seen: Sequence[_Seen], player: int, flag: int | None) -> _Forms:
    """Returns what the actions of a player are, by positions in which they are legal, or else by any."""
    own = [each for each in seen if each.player == player]
    texts: list[list[set[str]]] = [[set(), set()] for _ in range(game.num_actions)]
    cells: list[set[tuple[int, ...]]] = [set() for _ in range(game.num_actions)]

    def note(each: _Seen, action: int, move: str, places: tuple[int, ...]) -> None:
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
    return _Forms(forms, [list(*each) if len(each) == 1 else None for each in cells])


def _asked(game: Game, seen: _Seen, actions: Sequence[int]) -> dict[int, tuple[str, tuple[int, ...]]]:
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


def _has_texts(seen: _Seen, texts: Sequence[Sequence[Any]], flag: int | None) -> bool:
    """Returns whether the texts are those of the position's legal actions, and name each of them."""
    for action in seen.picture["actions"]:
        text = texts[seen.player][action["action"]]
        if isinstance(text, list):
            text = text[_is_second(seen, action["cells"], flag)]
        if text != action["move"]:
            return False
    return True


# ---- pictures


def _pictures_of(game: Game, seen: Sequence[_Seen], forms: Sequence[_Forms]) -> Iterator[Json]:
    """Yields tables that may be those of the picture: with pieces by planes, or with the numbers of planes as texts."""
    first = seen[0].picture
    if any(each.picture[name] != first[name] for each in seen for name in _STILL):
        return
    if len(first["cells"]) != int(np.prod(game.planes_shape[1:])):
        return
    kinds = _kinds_of(seen)
    pieces = [_pieces_of(game, [each for each in seen if each.player == player], kinds) for player in (0, 1)]
    buttons = {
        str(button["action"]): {"label": button["label"], "key": button["key"]}
        for each in seen
        for button in each.picture["buttons"]
    }
    still = {name: first[name] for name in _STILL}
    tables = {"still": still, "cells": [each.cells for each in forms], "buttons": buttons}
    if None not in pieces:
        yield {**tables, "pieces": pieces}
    yield {**tables, "pieces": None}


def _kinds_of(seen: Sequence[_Seen]) -> list[tuple[Any, str, str]]:
    """Returns player, kind and text of all pieces. What lies on other pieces comes after these."""
    heights = dict[tuple[Any, str], int]()  # the most pieces below one of this player and kind
    kinds = set[tuple[Any, str, str]]()
    for each in seen:
        below = Counter[int]()
        for piece in each.picture["pieces"]:
            kind = piece["player"], piece["kind"]
            heights[kind] = max(heights.get(kind, 0), below[piece["cell"]])
            below[piece["cell"]] += 1
            kinds.add((*kind, piece["text"]))
    return sorted(kinds, key=lambda kind: (heights[kind[:2]], str(kind)))


def _pieces_of(game: Game, seen: Sequence[_Seen], kinds: Sequence[tuple[Any, str, str]]) -> list[Json] | None:
    """Returns for each kind of piece where it lies, by the planes; None if they do not say.

    Texts that are numbers, such as of seeds in a pit, are one kind: all of them need not have been seen.
    """
    planes, height, width = game.planes_shape
    board = np.array([each.planes for each in seen]).reshape(len(seen), planes, height * width)
    orders = _orders(height, width)
    found, numbered = list[Json](), set[tuple[Any, str]]()
    for player, kind, text in kinds:
        if (player, kind) in numbered:
            continue
        texts = {each[2] for each in kinds if each[:2] == (player, kind)}
        place = None
        if len(texts) >= _FEWEST_NUMBERS and all(each.isdecimal() for each in texts):
            place = _counted(seen, board, orders, player, kind)
        if place is not None:
            numbered.add((player, kind))
        else:
            lies = np.zeros((len(seen), height * width), bool)
            for row, each in enumerate(seen):
                pieces = each.picture["pieces"]
                cells = [p["cell"] for p in pieces if (p["player"], p["kind"], p["text"]) == (player, kind, text)]
                lies[row, cells] = True
            place = _place_of(lies, board, orders)
        if place is None:
            return None
        found.append({"player": player, "kind": kind, "text": text, **place})
    return found


def _place_of(lies: np.ndarray, board: np.ndarray, orders: dict[str, np.ndarray]) -> Json | None:
    """Returns the planes that say where a kind of piece lies, [positions, H * W]: by being set, or by their values.

    Args:
      board: [positions, C, H * W] float32.
    """
    flags, planes = board != 0, range(board.shape[1])
    for chosen in (*((k,) for k in planes), *itertools.combinations(planes, 2)):
        is_set = np.logical_or.reduce(flags[:, list(chosen)], axis=1)
        for order in orders.values():
            if (is_set[:, order] == lies).all():
                return {"planes": list(chosen), "order": _listed(order)}
    for plane in planes:
        for order in orders.values():
            values = board[:, plane][:, order]
            own = np.unique(values[lies])
            if len(own) <= _MOST_VALUES and not np.isin(values[~lies], own).any():
                return {"planes": [plane], "order": _listed(order), "values": own.tolist()}
    return None


def _counted(
    seen: Sequence[_Seen], board: np.ndarray, orders: dict[str, np.ndarray], player: int | None, kind: str
) -> Json | None:
    """Returns the plane of which the values are the numbers of such pieces, but for a factor; None if there is none.

    Args:
      board: [positions, C, H * W] float32.
    """
    numbers = np.full((len(seen), board.shape[2]), -1)
    for row, each in enumerate(seen):
        for piece in each.picture["pieces"]:
            if (piece["player"], piece["kind"]) == (player, kind):
                numbers[row, piece["cell"]] = int(piece["text"])
    cells = np.flatnonzero((numbers >= 0).any(axis=0))
    numbers = numbers[:, cells]
    has_zero = bool((numbers == 0).any())
    wanted = numbers if has_zero else np.maximum(numbers, 0)  # else an empty cell has no piece
    for plane in range(board.shape[1]):
        for order in orders.values():
            values = board[:, plane][:, order[cells]].astype(float)
            if not (values[wanted > 0] > 0).all():
                continue
            factor = round(float(np.median(wanted[wanted > 0] / values[wanted > 0])), 4)
            if (np.floor(factor * values + 0.5) == wanted).all():
                about = {"planes": [plane], "order": _listed(order), "factor": factor}
                return {**about, "cells": cells.tolist(), "hasZero": has_zero}
    return None


def _listed(order: np.ndarray) -> list[int] | None:
    """Returns the places of the cells in a plane; None if they are those of the board."""
    return None if (order == np.arange(len(order))).all() else order.tolist()


def _orders(height: int, width: int) -> dict[str, np.ndarray]:
    """Returns the places of the cells in a plane, [H * W], for each way in which a plane may be turned."""
    board = np.arange(height * width).reshape(height, width)
    orders = {"same": board, "flipped": board[::-1], "mirrored": board[:, ::-1], "turned": board[::-1, ::-1]}
    if height == width:
        orders |= {f"{name}, transposed": each.T for name, each in orders.items()}
    return {name: each.ravel() for name, each in orders.items()}


def _is_drawn(seen: _Seen, tables: Json) -> bool:
    """Returns whether the picture by the tables is the game's own, but for the winning cells."""
    drawn = draw(tables, seen.planes, seen.player, seen.state.legal_actions(), seen.run)
    own = seen.picture
    actions = [{**action, "move": ""} for action in own["actions"]]
    buttons = [{**button, "move": ""} for button in own["buttons"]]
    pieces = sorted(own["pieces"], key=lambda piece: piece["cell"])
    varied = {"pieces": pieces, "actions": actions, "buttons": buttons}
    wanted = {**own, **varied, "winning": [], "is_path": False}
    return drawn == {name: wanted[name] for name in _KEYS}


def draw(tables: Json, planes: np.ndarray, player: int, legal: Sequence[int], run: Sequence[int]) -> Json:
    """Returns a picture as `scripts/pictures.js` draws it, without the texts of moves and the winning cells.

    Args:
      planes: [C * H * W] float32.
      player: who moves, by the rules.
      run: the last actions, all of that player.
    """
    still = tables["still"]
    size = len(still["cells"])
    if tables["pieces"] is None:
        pieces = _numbers(planes.reshape(-1, size))
    else:
        pieces = [
            {"cell": cell, "player": kind["player"], "kind": kind["kind"], "text": text}
            for cell in range(size)
            for kind in tables["pieces"][player]
            if (text := _text_at(kind, planes, size, cell)) is not None
        ]
    taken = {piece["cell"] for piece in pieces}

    def cells_of(action: int) -> list[int]:
        known = tables["cells"][player][action]
        if known is None and still["drops"] and action < len(still["drops"]):
            return [next((cell for cell in still["drops"][action] if cell not in taken), -1)]
        return known or []

    step = len(run) if len(still["steps"]) > 1 else 0
    begun = [cell for action in run for cell in cells_of(action)] if step else []
    actions = [{"action": action, "move": "", "cells": cells_of(action)} for action in legal]
    buttons = [{"action": a, **tables["buttons"][str(a)], "move": ""} for a in legal if str(a) in tables["buttons"]]
    varied = {"pieces": pieces, "step": step, "begun": begun, "actions": actions, "buttons": buttons}
    return {**still, **varied, "texts": [], "winning": [], "is_path": False, "problem": None}


def _text_at(kind: Json, planes: np.ndarray, size: int, cell: int) -> str | None:
    """Returns the text of a kind of piece on a cell; None if there is none."""
    place = kind["order"][cell] if kind["order"] else cell
    values = [float(planes[plane * size + place]) for plane in kind["planes"]]
    if "factor" in kind:
        number = math.floor(kind["factor"] * values[0] + 0.5)
        return str(number) if cell in kind["cells"] and (number or kind["hasZero"]) else None
    lies = values[0] in kind["values"] if "values" in kind else any(values)
    return kind["text"] if lies else None


def _numbers(planes: np.ndarray) -> list[Json]:
    """Returns for each cell the number of the first plane that is set there, of those that are not the same everywhere.

    Args:
      planes: [C, H * W] float32.
    """
    varied = (planes != 0) & np.not_equal(planes, planes[:, :1]).any(axis=1, keepdims=True)
    cells = np.flatnonzero(varied.any(axis=0)).tolist()
    return [{"cell": c, "player": None, "kind": "text", "text": str(int(varied[:, c].argmax()) + 1)} for c in cells]


def _plain(game: Game) -> Json:
    """Returns the tables of the plain board. A cell shows the number of the first plane that is set there."""
    state = game.new_initial_state()
    with plain_python():
        picture = default_picture(game.rules, state.record, state.legal_actions())
    still = picture.to_json()
    return {
        "still": {**{name: still[name] for name in _STILL}, "labels": []},
        "pieces": None,
        "cells": [[None] * game.num_actions],
        "buttons": {},
        "winning": None,
    }


# ---- what decided a game


def _winning_of(game: Game, seen: Sequence[_Seen], tables: Json) -> Json | None:
    """Returns how the cells that decided a game are found; None if nothing finds the game's own."""
    ended = [each for each in seen if each.state.is_terminal()]
    if not any(each.picture["winning"] for each in ended):
        return None
    _, height, width = game.planes_shape
    rows = ({"kind": "rows", "width": width, "k": k, "exact": exact} for k in (3, 4, 5, 6) for exact in (False, True))
    forms: list[Json] = [*rows, *_paths(tables["still"])]
    for form in forms:
        if all(_winning_by(form, each, height * width) == each.picture["winning"] for each in ended):
            return form
    return None


def _paths(still: Json) -> list[Json]:
    """Returns the paths between the sides of each player, on boards whose sides belong to players."""
    if not still["edges"]:
        return []
    places = [(cell["x"], cell["y"]) for cell in still["cells"]]
    near = [
        [other for other, (a, b) in enumerate(places) if 0.5 < (a - x) ** 2 + (b - y) ** 2 < 1.1] for x, y in places
    ]
    rows = still["rows"]
    ends = [[rows[0], rows[-1]], [[row[0] for row in rows], [row[-1] for row in rows]]]
    return [{"kind": "path", "near": near, "ends": ends}]


def _winning_by(form: Json, seen: _Seen, num_cells: int) -> list[int]:
    """Returns the cells that decided a game; none in a draw."""
    result = seen.state.returns()[0]
    if result == 0:
        return []
    winner = 0 if result > 0 else 1
    own = {piece["cell"] for piece in seen.picture["pieces"] if piece["player"] == winner}
    if form["kind"] == "rows":
        cells = ["X" if cell in own else "." for cell in range(num_cells)]
        return cells_in_rows(cells, form["width"], "X", form["k"], form["exact"])
    begin, end = form["ends"][winner]
    return _path(form["near"], own, begin, set(end))


def _path(near: list[list[int]], own: set[int], begin: Sequence[int], end: set[int]) -> list[int]:
    """Returns a shortest path of a player's cells, by a breadth-first search."""
    paths, seen = deque([cell] for cell in begin), set[int]()
    while paths:
        path = paths.popleft()
        if path[-1] not in own or path[-1] in seen:
            continue
        if path[-1] in end:
            return path
        seen.add(path[-1])
        paths.extend([*path, cell] for cell in near[path[-1]])
    return []
