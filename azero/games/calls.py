"""Calls from Python to optional compiled methods: rollouts, and the cell of a move. All methods compiled."""

from collections.abc import Callable

import numpy as np

from azero.compiler.jit import kernel
from azero.compiler.plain import call
from azero.compiler.rng import new_rng
from azero.errors import BrokenRules
from azero.games.defaults import has_own
from azero.games.kernels import note_compiled
from azero.games.reasons import broken_rules
from azero.games.state import Game, State


@kernel
def _rollout_action(rules, state, legal, rng):
    return rules.rollout_action(state, legal, rng)


@kernel
def _rollout(rules, state, legal, rng, max_plies):
    return rules.rollout(state, legal, rng, max_plies)


def rollout_action_of(state: State, seed: int) -> int:
    """Returns an action of the rollout policy. It may change scratch fields of the state's record."""
    return int(_call(_rollout_action, state, new_rng(seed)))


def rollout_of(state: State, seed: int) -> int:
    """Plays to the end by the rollout policy and returns the outcome. The state is not valid afterwards."""
    return int(_call(_rollout, state, new_rng(seed), state.game.max_plies))


def _call(kernel: Callable, state: State, *arguments: object) -> int:
    legal = np.zeros(state.game.num_actions, np.int32)
    try:
        return kernel(state.game.rules, state.record, legal, *arguments)
    except BrokenRules as error:
        raise broken_rules(state.game.name, f"{error}, in a rollout", state.history()) from None


@kernel
def _target(rules, state, action):
    return rules.target(state, action)


def target_of(state: State, action: int) -> int:
    """Returns the cell at which a legal action takes place; a number outside the board if it has no cell."""
    return int(call(_target, state.game.rules, state.record, action))


def compile_rules(game: Game) -> None:
    """Compiles every method that positions, rollouts and nets need, or loads it from the cache of kernels.

    A user's rules that cannot be compiled raise an error of the compiler.
    """
    state = game.new_initial_state()
    state.planes(), state.hash_key(), state.final_score()
    State.from_record(game, state.record)
    if has_own(game.rules, "ownership"):
        state.ownership()
    if has_own(game.rules, "rollout_action"):
        rollout_action_of(state.clone(), seed=0)
    if has_own(game.rules, "rollout"):
        rollout_of(state.clone(), seed=0)
    if has_own(game.rules, "target"):
        target_of(state, state.legal_actions()[0])
    note_compiled(game.rules)
