"""Wins in one: which moves of a position win at once, and which let the opponent win at once."""

import numpy as np

from azero.compiler.jit import kernel
from azero.games import ONGOING, State
from azero.games.contract import sign_of
from azero.games.state import new_states

WINS, QUIET, LETS_WIN = 1, 0, -1
"""What becomes of a move within a ply: it wins; nothing; the opponent has a move that wins."""


def wins_in_one(state: State) -> np.ndarray:
    """Returns WINS, QUIET or LETS_WIN for each legal action of a position, [k] int8, in the order of legal_actions().

    A move after which the same player is to move is QUIET unless it wins.
    """
    rules = state.game.rules
    kinds = np.zeros(len(state.legal_actions()), np.int8)
    legal = np.zeros((2, rules.num_actions), np.int32)
    find_kinds(rules, state.record, new_states(rules, 2), legal, kinds)
    return kinds


def first_win(state: State) -> int:
    """Returns the first legal action that ends the game with the mover's win; -1 if there is none."""
    rules = state.game.rules
    return int(_first_win(rules, state.record, new_states(rules, 1), np.zeros(rules.num_actions, np.int32)))


@kernel
def _first_win(rules, start, states, legal):
    """Returns the action of `first_win`. `states` ([1]) and `legal` ([A] int32) are scratch memory."""
    sign = sign_of(rules.current_player(start))
    for place in range(rules.legal_actions(start, legal)):
        states[0] = start
        after = states[0]
        rules.apply_action(after, np.int64(legal[place]))
        if rules.outcome(after) == sign:
            return np.int64(legal[place])
    return np.int64(-1)


@kernel
def find_kinds(rules, start, states, legal, kinds):
    """Writes the kinds of the moves. `states` ([2]) and `legal` ([2, A] int32) are scratch memory."""
    mover = rules.current_player(start)
    for place in range(rules.legal_actions(start, legal[0])):
        states[0] = start
        state = states[0]
        rules.apply_action(state, np.int64(legal[0, place]))
        outcome = rules.outcome(state)
        kinds[place] = QUIET
        if outcome == sign_of(mover):
            kinds[place] = WINS
        elif outcome == ONGOING and rules.current_player(state) != mover:
            for reply in range(rules.legal_actions(state, legal[1])):
                states[1] = state
                after = states[1]
                rules.apply_action(after, np.int64(legal[1, reply]))
                if rules.outcome(after) == -sign_of(mover):
                    kinds[place] = LETS_WIN
                    break
