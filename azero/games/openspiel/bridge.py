"""The rules of OpenSpiel's games, for azero's kernels: a state is its history, and all else is asked of OpenSpiel."""

import functools
import random
import re
import textwrap
import time
from typing import NamedTuple, cast

import numpy as np

from azero.compiler.jit import shared_with_python
from azero.compiler.rng import mix, random_below
from azero.errors import BadInput, BrokenRules
from azero.games.contract import Rules
from azero.games.openspiel.library import LOCK, Opened, open_game
from azero.games.openspiel.positions import (
    ENCODE,
    FAILED,
    LEGAL,
    OPENED,
    OUTCOME,
    PLAYER,
    ROLLOUT,
    UNANSWERED,
    Positions,
    ask,
)
from azero.games.pictures.picture import UNNAMED, Board, Label, Picture
from azero.games.registry import complete
from azero.system.console import warn_once


def _dtype(capacity: int) -> np.dtype:
    fields = [
        ("key", np.uint64),
        ("before", np.uint64),  # the key before the last action
        ("ply", np.int32),
        ("history", np.int16, (capacity,)),
    ]
    return np.dtype(fields, align=True)


_DTYPES = {capacity: _dtype(capacity) for capacity in (64, 256, 1024, 4096)}
"""Of a state, by the room of its history. Games with the same one share their compiled kernels."""

_REFUSED = "OpenSpiel has raised an error"

_NOWHERE = -1
"""The cell of every action: OpenSpiel does not tell where on the board an action takes place."""

_WIDTH = 100  # columns of the moves below a board

_PITCH, _MOST_CHARACTERS = (0.17, 0.34), 2500
"""Distance of characters and lines in a picture, in sides of a cell, and the most characters of a board."""

_SOME_PLIES = 200  # of random games that tell OpenSpiel's speed


@functools.cache
def open_rules(text: str) -> Rules:
    """Returns the rules of a game by its name, e.g. `openspiel:hex(board_size=5)`; raises BadInput.

    The first time it says how fast OpenSpiel plays the game.
    """
    with LOCK:
        opened = open_game(text)
        numbers = [number for number, each in enumerate(OPENED) if each.opened.name == opened.name]
        if not numbers:
            taken_us = _microseconds_a_ply(opened)
            warn_once(
                f"{opened.name}: OpenSpiel plays it, uncompiled, in {taken_us:.0f} us a move; the rules of azero's own "
                "games take 0.02 to 1 us"
            )
            numbers.append(len(OPENED))
            OPENED.append(Positions(opened))
        return cast(Rules, OpenSpielRules(numbers[0]))  # with the defaults that `complete` gives it


def _microseconds_a_ply(opened: Opened) -> float:
    """Returns the time of a random move through OpenSpiel, with the legal moves before it."""
    game, chooser, begin = opened.game, random.Random(0), time.perf_counter()
    position = game.new_initial_state()
    for _ in range(_SOME_PLIES):
        if position.is_terminal():
            position = game.new_initial_state()
        position.apply_action(chooser.choice(position.legal_actions()))
    return (time.perf_counter() - begin) / _SOME_PLIES * 1e6


@shared_with_python
def _answered(game, what, given, state, out):
    """Returns OpenSpiel's answer to a question about a position; raises BrokenRules if it raises an error."""
    answer = ask(game.number, what, given, state.key, state.before, state.ply, state.history, out)
    while answer == UNANSWERED:
        answer = ask(game.number, what, given, state.key, state.before, state.ply, state.history, out)
    if answer == FAILED:
        raise BrokenRules(_REFUSED)
    return answer


class OpenSpielRules(NamedTuple):
    """One of OpenSpiel's games, by OpenSpiel's rules. The players have OpenSpiel's numbers, and moves its texts.

    Attributes:
      number: of the game in this process.
    """

    number: int

    def __reduce__(game):
        return open_rules, (game.full_name,)

    @property
    def _positions(game) -> Positions:
        return OPENED[game.number]

    @property
    def full_name(game) -> str:
        return game._positions.opened.name

    @property
    def state_dtype(game) -> np.dtype:
        return _DTYPES[next(capacity for capacity in _DTYPES if capacity >= game.max_plies)]

    @property
    def num_actions(game) -> int:
        return game._positions.opened.game.num_distinct_actions()

    @property
    def max_plies(game) -> int:
        return game._positions.opened.max_plies

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return game._positions.planes_shape

    @property
    def calls_python(game) -> bool:
        return True

    def reset(game, state):
        state.key = np.uint64(1)
        state.before = np.uint64(0)
        state.ply = 0
        for place in range(len(state.history)):
            state.history[place] = 0

    def apply_action(game, state, action):
        state.before = state.key
        state.key = mix(state.key) ^ np.uint64(action + 2)
        state.history[state.ply] = action
        state.ply += 1

    def current_player(game, state):
        return _answered(game, PLAYER, 0, state, state.history)

    def legal_actions(game, state, out):
        return _answered(game, LEGAL, 0, state, out)

    def outcome(game, state):
        return _answered(game, OUTCOME, 0, state, state.history)

    def encode(game, state, planes):
        _answered(game, ENCODE, 0, state, planes)

    def hash_key(game, state):
        return state.key

    def rollout(game, state, legal, rng, max_plies):
        return _answered(game, ROLLOUT, random_below(rng, 1 << 30), state, state.history)

    def target(game, state, action):
        return np.int64(_NOWHERE)

    def action_to_text(game, state, action):
        position = game._positions.of_state(state)
        return _without_spaces(position.action_to_string(position.current_player(), int(action)))

    def text_to_action(game, state, text):
        position = game._positions.of_state(state)
        if position.is_terminal():
            raise BadInput(f"{text!r} cannot be played: the game is over")
        player, sought = position.current_player(), _without_spaces(text)
        texts = {_without_spaces(position.action_to_string(player, each)): each for each in position.legal_actions()}
        if sought not in texts:
            some = " ".join(list(texts)[:4])
            raise BadInput(f"{text!r} is not a legal move here; moves are written {some} ...")
        return texts[sought]

    def split_moves(game, text):
        return [each for each in re.split(r"[,;]?\s+", text.strip().rstrip(",;")) if each]

    def draw(game, state, marks):
        marked = "   ".join(f"{game.action_to_text(state, action)} {mark}" for action, mark in marks.items())
        return "\n".join([str(game._positions.of_state(state)).rstrip("\n"), *textwrap.wrap(marked, _WIDTH)])

    def picture(game, state, legal, history):
        lines = str(game._positions.of_state(state)).expandtabs().splitlines()
        shown = [(line, row) for row, line in enumerate(lines) if len(lines) * len(line) <= _MOST_CHARACTERS]
        texts = [
            Label(character, (column + 0.5) * _PITCH[0], (row + 0.5) * _PITCH[1])
            for line, row in shown
            for column, character in enumerate(line)
            if character.strip()
        ]
        width = max([len(line) for line, _ in shown], default=1) * _PITCH[0]
        return Picture(Board("plain", width, max(1, len(lines)) * _PITCH[1], (), ()), UNNAMED, texts=texts)


complete(OpenSpielRules)


def _without_spaces(text: str) -> str:
    """Returns a move as azero writes it: spaces, which separate moves, are underscores, and no semicolon ends it."""
    return re.sub(r"\s+", "_", text.strip().rstrip(",;"))
