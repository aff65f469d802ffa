"""What the adaptive level knows of its opponent: how much the opponent's last moves lost."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from azero.arena.agents.levels.level import Level
from azero.arena.agents.levels.rule import Judged, scores_of
from azero.games import State

WATCHED = 10
"""Moves of the opponent that count, the last ones."""

EXPECTED_LOSS, EXPECTED_MOVES = 5.0, 2
"""Points that an unknown opponent is expected to lose per move, and as how many moves this counts."""


class Turn(NamedTuple):
    """A position and the action that was played in it."""

    state: State
    action: int


def turns_of(state: State) -> list[Turn]:
    """Returns the last turns of the player to move, oldest first; none if the moves do not lead to the position.

    That is so if the position was given as a text.
    """
    turns, player = list[Turn](), state.current_player()
    before = state.game.new_initial_state()
    for action in state.history():
        if before.is_terminal() or action not in before.legal_actions():
            return []
        if before.current_player() == player:
            turns.append(Turn(before.clone(), action))
        before.apply_action(action)
    return turns[-WATCHED:] if before.hash_key() == state.hash_key() else []


def opponents_loss(state: State, judge: Callable[[State], Judged]) -> float:
    """Returns the mean loss of the opponent's last moves, in points, as far as searches see it.

    A move of the opponent lost what the score of the player to move rose by: from the score of that player's move, in
    the search before it, to the score of the best move in the search after the opponent's answer.

    Args:
      judge: searches a position, in which the same player is to move as in `state`.
    """
    turns = turns_of(state)
    total, count = EXPECTED_LOSS * EXPECTED_MOVES, EXPECTED_MOVES
    later = [*(turn.state for turn in turns), state][1:]
    for turn, after in zip(turns, later, strict=True):
        if len(after.history()) == len(turn.state.history()) + 1:
            continue  # the same player's turn went on
        score = scores_of(judge(turn.state))[turn.state.legal_actions().index(turn.action)]
        if not np.isnan(score):
            total += float(np.nanmax(scores_of(judge(after)))) - float(score)
            count += 1
    return max(0.0, total / count)


def adapted(level: Level, loss: float) -> Level:
    """Returns the adaptive level against an opponent who loses so many points per move: with a cap in proportion."""
    return level.with_cap(min(level.cap, level.gift * loss))
