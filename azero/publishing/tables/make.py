"""Makes the tables of a game.

Pictures and texts are Python methods of a game. The tables are found by looking at what these methods say in games
played at random. Other such games then check them: what fails is left out, and named.
"""

import functools
import random
from collections.abc import Sequence
from typing import Any

from azero.games import Game
from azero.publishing.tables.moves import flag_of, forms_of, has_texts
from azero.publishing.tables.pictures import is_drawn, pictures_of, plain
from azero.publishing.tables.seen import Json, positions
from azero.publishing.tables.winning import winning_of

_LEARNT, _CHECKED = 800, 300
"""Positions from which tables are made, and others by which they are checked."""


@functools.lru_cache(maxsize=16)
def tables_of(game: Game, seed: int = 0) -> tuple[Json, list[str]]:
    """Returns the tables of a game, and what cannot be done by tables, in words.

    The page reads them in `scripts/pictures.js`, which says what they are. Nobody should change them.
    """
    chance = random.Random(seed)
    learnt, checked = positions(game, chance, _LEARNT), positions(game, chance, _CHECKED)
    lacks = list[str]()
    flag = flag_of(game, learnt)
    forms = [forms_of(game, learnt, player, flag) for player in (0, 1)]
    texts = [each.texts for each in forms]
    if not all(has_texts(seen, texts, flag) for seen in (*learnt, *checked)):
        texts = [[str(action) for action in range(game.num_actions)]] * 2
        lacks.append("moves are written as numbers: their texts depend on more than the action and where it goes")
    tables: Json = {"texts": _once(texts), "flag": flag}
    for picture in pictures_of(game, learnt, forms):
        if not all(is_drawn(seen, picture) for seen in (*learnt, *checked)):
            continue
        winning = winning_of(game, learnt + checked, picture)
        if winning is None and any(seen.picture["winning"] for seen in (*learnt, *checked)):
            lacks.append("the cells that decided a game are not marked")
        return {**tables, **picture, "cells": _once(picture["cells"]), "winning": winning}, lacks
    lacks.append("the picture is the plain board beside a list of moves")
    return {**tables, **plain(game)}, lacks


def _once(both: Sequence[Any]) -> list[Any]:
    """Returns what both players have, once if it is the same."""
    return [both[0]] if both[0] == both[1] else list(both)
