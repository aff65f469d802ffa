"""The adaptive level: it plays at the level whose rule best explains the opponent's last moves."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from azero.arena.agents.levels.level import Level
from azero.arena.agents.levels.rule import Judged, chances_of
from azero.games import State
from azero.mcts.proving.wins import wins_in_one

WATCHED = 16
"""Moves of the opponent that count, the last ones."""

BLUR = 4.0
"""Points by which another search's scores may differ from the opponent's own; added to temperatures, in squares."""

LEAST_CHANCE = 0.02
"""Share of the moves that a level may make without any reason."""


class Turn(NamedTuple):
    """A position and the action that was played in it."""

    state: State
    action: int


def turns_of_opponent(state: State, since: int = 0) -> list[Turn]:
    """Returns the last turns of the opponent of the player to move, oldest first.

    There are none if the position was given as a text, since its moves are not known.

    Args:
      since: the number of the game's first plies that nobody has chosen, such as a random opening.
    """
    turns, player = list[Turn](), state.current_player()
    before = state.game.new_initial_state()
    for ply, action in enumerate(state.history()):
        if before.is_terminal() or action not in before.legal_actions():
            return []
        if ply >= since and before.current_player() != player:
            turns.append(Turn(before.clone(), action))
        before.apply_action(action)
    return turns[-WATCHED:] if before == state else []


def adapted(levels: Sequence[Level], state: State, judge: Callable[[State], Judged], since: int = 0) -> Level:
    """Returns the level that is the mean of those that may explain the opponent's moves.

    At first all levels are equally probable. A level becomes the less probable, the less its rule would have chosen the
    moves that were played (Bayes).

    Args:
      levels: weakest first.
      judge: searches a position.
      since: as in `turns_of_opponent`.
    """
    logs = np.zeros(len(levels))
    for before, action in turns_of_opponent(state, since):
        legal = before.legal_actions()
        if len(legal) > 1:
            judged, kinds, place = judge(before), wins_in_one(before), legal.index(action)
            chances = np.array([chances_of(judged, _blurred(level), kinds)[place] for level in levels])
            logs += np.log((1 - LEAST_CHANCE) * chances + LEAST_CHANCE / len(legal))
    weights = np.exp(logs - logs.max())
    return levels[round(float(np.arange(len(levels)) @ weights / weights.sum()))]


def _blurred(level: Level) -> Level:
    """Returns a level as it looks to another search than its own."""
    return replace(level, temperature=float(np.hypot(level.temperature, BLUR)), cap=level.cap + 3 * BLUR)
