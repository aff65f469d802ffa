"""Default methods: those that a class of rules gets if it does not define its own. `contract.py` specifies them."""

import inspect
import re

import numpy as np

from azero.compiler.rng import random_below
from azero.errors import NO_ACTION, TOO_LONG, BadInput, BrokenRules
from azero.games.contract import ONGOING, Exchange, Places, Ranges, Rules, Symmetries
from azero.games.pictures.default import default_picture
from azero.games.pictures.picture import Picture

_NO_POSITIONS = "this game has no text for positions; write the moves that lead to one, after 'moves:'"


def rollout_action(game, state, legal, rng):
    """Returns a uniformly random legal action; raises BrokenRules if there is none."""
    num_legal = game.legal_actions(state, legal)
    if num_legal == 0:
        raise BrokenRules(NO_ACTION)
    return legal[random_below(rng, num_legal)]


def rollout(game, state, legal, rng, max_plies):
    """Plays by `rollout_action` to the end and returns the outcome; raises BrokenRules after `max_plies` plies."""
    for _ in range(max_plies + 1):
        outcome = game.outcome(state)
        if outcome != ONGOING:
            return outcome
        game.apply_action(state, np.int64(game.rollout_action(state, legal, rng)))
    raise BrokenRules(TOO_LONG)


def final_score(game, state):
    """Returns the outcome as a number."""
    return float(game.outcome(state))


def ownership(game, state, owners):
    """Writes 0 for every cell: nobody owns it."""
    for row in range(owners.shape[0]):
        for column in range(owners.shape[1]):
            owners[row, column] = 0


def target(game, state, action):
    """Returns the action's number. It is right for games whose first actions are the cells of the board."""
    return action


def is_near_end(game, state):
    """Returns False."""
    return False


def exchange_players(game, state):
    """Leaves the state as it is: nothing is known of an exchanged position."""


def ranges(game) -> Ranges:
    """Returns no bounds."""
    return {}


def check(game) -> None:
    """Accepts all parameters."""


def symmetries(game) -> Symmetries:
    """Returns the identity alone."""
    _, height, width = game.planes_shape
    cells, actions = np.arange(height * width, dtype=np.int32), np.arange(game.num_actions, dtype=np.int32)
    return Symmetries(cells=cells[None], actions=actions[None])


def exchange(game) -> Exchange:
    """Leaves cells and actions in place."""
    _, height, width = game.planes_shape
    return Exchange(np.arange(height * width, dtype=np.int32), np.arange(game.num_actions, dtype=np.int32))


def places(game) -> Places:
    """Raises BadInput: nothing is known of the actions' places."""
    raise BadInput(
        f"{type(game).__qualname__} has no `places`, the planes and cells of its actions; "
        "net.name = any_size needs them"
    )


def action_to_text(game, state, action: int) -> str:
    """Returns the action's number."""
    return str(action)


def text_to_action(game, state, text: str) -> int:
    """Returns the first action that `action_to_text` writes as `text`; raises BadInput if there is none.

    Legal actions come first. They are few, and `action_to_text` need not tell illegal ones apart.
    """
    legal = np.zeros(game.num_actions, np.int32)
    num_legal = game.legal_actions(state, legal) if game.outcome(state) == ONGOING else 0
    for action in (*legal[:num_legal].tolist(), *range(game.num_actions)):
        if game.action_to_text(state, action) == text:
            return action
    some = " ".join(game.action_to_text(state, action) for action in range(min(4, game.num_actions)))
    raise BadInput(f"{text!r} is not a move of {type(game).__qualname__}; moves are written {some} ...")


def split_moves(game, text: str) -> list[str]:
    """Splits at spaces, commas and semicolons."""
    return re.findall(r"[^\s,;]+", text)


def position_to_text(game, state) -> str:
    """Raises BadInput: `State.to_text` writes the moves instead."""
    raise BadInput(_NO_POSITIONS)


def text_to_position(game, state, text: str) -> None:
    """Raises BadInput, because this game reads moves only."""
    raise BadInput(_NO_POSITIONS)


def draw(game, state, marks: dict[int, str]) -> str:
    """Returns the fields of the state, one per line, then the marks."""
    lines = [f"{name}: {np.asarray(state[name]).tolist()}" for name in game.state_dtype.names]
    marked = [f"{game.action_to_text(state, action)} {mark}" for action, mark in marks.items()]
    return "\n".join([*lines, *marked])


def winning_cells(game, state) -> list[int]:
    """Returns no cells: none are known to have decided the game."""
    return []


def picture(game, state, legal: list[int], history: list[int]) -> Picture:
    """Returns the cells of the planes, with the characters of `draw`."""
    return default_picture(game, state, legal)


def _is_history_free(game) -> bool:
    """True: the future depends on the position alone."""
    return True


def _is_about_mobility(game) -> bool:
    """False: the number of replies says little about a move."""
    return False


def _calls_python(game) -> bool:
    """False: compiled methods are compiled as a whole."""
    return False


DEFAULTS = {
    "is_history_free": property(_is_history_free),
    "is_about_mobility": property(_is_about_mobility),
    "calls_python": property(_calls_python),
    "rollout_action": rollout_action,
    "rollout": rollout,
    "final_score": final_score,
    "ownership": ownership,
    "target": target,
    "is_near_end": is_near_end,
    "exchange_players": exchange_players,
    "ranges": ranges,
    "check": check,
    "symmetries": symmetries,
    "exchange": exchange,
    "places": places,
    "action_to_text": action_to_text,
    "text_to_action": text_to_action,
    "split_moves": split_moves,
    "position_to_text": position_to_text,
    "text_to_position": text_to_position,
    "draw": draw,
    "winning_cells": winning_cells,
    "picture": picture,
}


def has_own(rules: Rules, method: str) -> bool:
    """Returns whether a game defines an optional method itself."""
    return inspect.unwrap(getattr(type(rules), method)) is not DEFAULTS[method]
