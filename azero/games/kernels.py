"""Calls from Python to the compiled methods of a game's rules, for `state.py`. `contract.py` describes the methods."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from azero.compiler.jit import kernel, shared_with_python
from azero.compiler.plain import call, is_plain, plain_python
from azero.games.contract import ONGOING, Rules

_COMPILED: set[tuple[type, np.dtype]] = set()
"""Rules whose methods this process has compiled, or has loaded from the cache of kernels."""


def new_states(rules: Rules, *shape: int) -> np.recarray:
    """Returns an array of blank states, [*shape] of the game's state dtype. `reset` makes a position of a state."""
    return np.zeros(shape, rules.state_dtype).view(np.recarray)


def note_compiled(rules: Rules) -> None:
    """Notes that all methods of these rules are compiled."""
    _COMPILED.add((type(rules), rules.state_dtype))


def is_compiled(rules: Rules) -> bool:
    """Returns whether nothing needs to be compiled for these rules any more."""
    return (type(rules), rules.state_dtype) in _COMPILED


@contextmanager
def without_compiling(rules: Rules) -> Iterator[None]:
    """Runs these rules as plain Python within the block, unless this process has compiled them by `compile_game`.

    So a program shows a board at once, and compiles in another thread. `Game` and `State` respect it.
    """
    if is_compiled(rules):
        yield
        return
    with plain_python():
        yield


@kernel
def advance(rules, state, action, legal):
    """Plays `action`, or resets the state if it is -1. Then writes and returns the same as `look`."""
    if action < 0:
        rules.reset(state)
    else:
        rules.apply_action(state, action)
    return _look(rules, state, legal)


@kernel
def look(rules, state, legal):
    """Writes the legal actions of a position; returns their number, the player to move and the outcome."""
    return _look(rules, state, legal)


@shared_with_python
def _look(rules, state, legal):
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


@kernel
def rollout_action(rules, state, legal, rng):
    return rules.rollout_action(state, legal, rng)


@kernel
def rollout(rules, state, legal, rng, max_plies):
    return rules.rollout(state, legal, rng, max_plies)


@kernel
def target(rules, state, action):
    return rules.target(state, action)


@kernel
def exchange_players(rules, state):
    rules.exchange_players(state)


def lines_to_text(rules: Rules, record: np.record, lines: Sequence[Sequence[int]]) -> list[list[str]]:
    """Returns lines of play from a position, each of one or more actions, in the game's notation.

    All lines advance together. One compiled call per ply is faster than one per line.
    """
    write = rules.action_to_text
    texts = [[write(record, line[0])] for line in lines]
    going = [k for k, line in enumerate(lines) if len(line) > 1]
    states = new_states(rules, len(lines)).view(np.ndarray)
    states[going] = record
    while going:
        played = [lines[k][len(texts[k]) - 1] for k in going]
        if is_plain():
            for k, action in zip(going, played, strict=True):
                call(advance, rules, states[k], action, np.empty(rules.num_actions, np.int32))
        else:
            apply_each(rules, states, np.array(going, np.int32), np.array(played, np.int32))
        for k in going:
            texts[k].append(write(states[k], lines[k][len(texts[k])]))
        going = [k for k in going if len(texts[k]) < len(lines[k])]
    return texts
