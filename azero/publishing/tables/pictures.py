"""The pieces of a board, by its planes."""

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from azero.compiler.plain import plain_python
from azero.games import Game
from azero.games.pictures.default import default_picture
from azero.publishing.tables.moves import Forms
from azero.publishing.tables.seen import Json, Seen

_MOST_VALUES = 4
"""Values of a plane that mean the same kind of piece."""

_FEWEST_NUMBERS = 3
"""Different numbers on the board that may be those of a plane."""

_STILL = ("style", "width", "height", "cells", "rows", "labels", "lines", "dots", "edges", "players", "steps", "drops")
"""What does not change in a game's pictures if they can be drawn from tables."""

_KEYS = (*_STILL, "pieces", "step", "begun", "texts", "winning", "is_path", "problem", "actions", "buttons")


def pictures_of(game: Game, seen: Sequence[Seen], forms: Sequence[Forms]) -> Iterator[Json]:
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


def _kinds_of(seen: Sequence[Seen]) -> list[tuple[Any, str, str]]:
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


def _pieces_of(game: Game, seen: Sequence[Seen], kinds: Sequence[tuple[Any, str, str]]) -> list[Json] | None:
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
    seen: Sequence[Seen], board: np.ndarray, orders: dict[str, np.ndarray], player: int | None, kind: str
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


def is_drawn(seen: Seen, tables: Json) -> bool:
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


def plain(game: Game) -> Json:
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
