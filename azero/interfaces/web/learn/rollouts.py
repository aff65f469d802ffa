"""`RecordedRollout`: the game's own rollouts, with the moves that they play."""

import numpy as np

from azero.compiler.plain import call
from azero.compiler.rng import new_rng
from azero.errors import BrokenRules
from azero.games import ONGOING
from azero.games.contract import Rules
from azero.games.state import new_states


class RecordedRollout:
    """Plays out by the rules' own rollout, as `OwnRollout` does, and remembers the moves.

    Attributes:
      actions: of the last rollout; None if the rules computed its result without playing moves.
    """

    def __init__(self) -> None:
        self.actions: list[int] | None = None

    def play_out(self, rules: Rules, state: np.record, scratch: np.record, rng: np.record) -> int:
        """Plays to the end and returns the outcome. `state` is not valid afterwards."""
        again, same_rng = new_states(rules, 1), new_rng(int(rng.counter))
        again[0] = state
        legal = np.zeros(rules.num_actions, np.int32)
        outcome = int(call(_rollout, rules, state, legal, rng, rules.max_plies))
        actions = _play_moves(rules, again[0], legal, same_rng)
        is_same = actions is not None and same_rng.counter == rng.counter
        self.actions = actions if is_same and int(call(_outcome, rules, again[0])) == outcome else None
        return outcome


def _play_moves(rules: Rules, state: np.record, legal: np.ndarray, rng: np.record) -> list[int] | None:
    """Plays to the end, move by move; returns the actions, or None if the rollout policy cannot do that."""
    actions: list[int] = []
    while int(call(_outcome, rules, state)) == ONGOING:
        if len(actions) > rules.max_plies:
            return None
        try:
            actions.append(int(call(_play_one, rules, state, legal, rng)))
        except BrokenRules:
            return None
    return actions


def _rollout(rules, state, legal, rng, max_plies):
    return rules.rollout(state, legal, rng, max_plies)


def _outcome(rules, state):
    return rules.outcome(state)


def _play_one(rules, state, legal, rng):
    action = np.int64(rules.rollout_action(state, legal, rng))
    rules.apply_action(state, action)
    return action
