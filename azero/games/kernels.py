"""Calls from Python to the compiled methods of a game's rules, for `state.py`. `contract.py` describes the methods."""

import numpy as np

from azero.compiler.jit import kernel
from azero.games.contract import ONGOING


@kernel
def advance(rules, state, action, legal):
    """Plays `action`, or resets the state if it is -1. Then writes and returns the same as `look`."""
    if action < 0:
        rules.reset(state)
    else:
        rules.apply_action(state, action)
    return look(rules, state, legal)


@kernel
def look(rules, state, legal):
    """Writes the legal actions of a position; returns their number, the player to move and the outcome."""
    outcome = rules.outcome(state)
    num_legal = 0 if outcome != ONGOING else rules.legal_actions(state, legal)
    return num_legal, rules.current_player(state), outcome


@kernel
def apply_each(rules, states, places, actions):
    """Plays one action ([n] int32) in each of the states at `places` ([n] int32)."""
    for k in range(len(places)):
        rules.apply_action(states[places[k]], np.int64(actions[k]))


@kernel
def encode(rules, state, planes):
    rules.encode(state, planes)


@kernel
def hash_key(rules, state):
    return rules.hash_key(state)


@kernel
def final_score(rules, state):
    return rules.final_score(state)


@kernel
def ownership(rules, state, owners):
    rules.ownership(state, owners)
