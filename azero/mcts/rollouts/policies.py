"""Rollout policies: how games are played to the end from a leaf. A policy is a NamedTuple.

    play_out(rules, state, scratch, rng)     plays to the end and returns the outcome; changes `state`
    draw_action(rules, state, scratch, rng)  returns a legal action; only for policies that play move by move

`scratch` (`mcts/scratch.py`) is the thread's scratch memory.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import bind_methods, subroutine
from azero.compiler.rng import random_below, random_unit
from azero.errors import NO_ACTION, TOO_LONG, BrokenRules
from azero.games import ONGOING
from azero.mcts.rollouts.features import NO_PATTERN, pattern_at, write_rows

bind_methods(play_out=("rules", "state", "scratch", "rng"), draw_action=("rules", "state", "scratch", "rng"))


@subroutine
def _play_out(policy, rules, state, scratch, rng):
    """Plays by `draw_action` until the game is over; raises BrokenRules if that takes too long."""
    for _ in range(len(scratch.path)):
        outcome = rules.outcome(state)
        if outcome != ONGOING:
            return outcome
        rules.apply_action(state, np.int64(policy.draw_action(rules, state, scratch, rng)))
    raise BrokenRules(TOO_LONG)


class OwnRollout(NamedTuple):
    """The game's own policy: `rollout` of its rules, uniform by default. Go's does not fill eyes."""

    unused: int = 0  # Numba cannot call methods of an empty NamedTuple

    def play_out(policy, rules, state, scratch, rng):
        return rules.rollout(state, scratch.legal, rng, len(scratch.path))


class UniformRollout(NamedTuple):
    """Uniformly random legal actions, even if the game has its own policy."""

    unused: int = 0  # as above

    def play_out(policy, rules, state, scratch, rng):
        return _play_out(policy, rules, state, scratch, rng)

    def draw_action(policy, rules, state, scratch, rng):
        num_legal = rules.legal_actions(state, scratch.legal)
        if num_legal == 0:
            raise BrokenRules(NO_ACTION)
        return scratch.legal[random_below(rng, num_legal)]


class LinearSoftmax(NamedTuple):
    """A softmax over legal actions, linear in the local features of `features.py` [1]:

        p(a | s) = exp(w[pattern of a in s] + w[a]) / sum over legal b of exp(w[pattern of b in s] + w[b])

    Source:
      [1] Silver et al., Mastering the game of Go with deep neural networks and tree search, Nature 529 (2016),
          Methods, "Rollout policy". Of its features we use only the 3x3 pattern.
    """

    patterns: np.ndarray  # [NUM_PATTERNS] float32, exp(w), w in [-20, 20]
    actions: np.ndarray  # [A] float32, the same

    def play_out(policy, rules, state, scratch, rng):
        return _play_out(policy, rules, state, scratch, rng)

    def draw_action(policy, rules, state, scratch, rng):
        num_legal = rules.legal_actions(state, scratch.legal)
        if num_legal == 0:
            raise BrokenRules(NO_ACTION)
        planes = scratch.planes
        rules.encode(state, planes)
        write_rows(planes, scratch.rows)
        total = 0.0
        for k in range(num_legal):
            action = np.int64(scratch.legal[k])
            pattern = pattern_at(scratch.rows, planes.shape[2], rules.target(state, action))
            weight = np.float64(policy.actions[action])
            if pattern != NO_PATTERN:
                weight *= np.float64(policy.patterns[pattern])
            total += weight
            scratch.weights[k] = total
        drawn = random_unit(rng) * total
        k = 0
        while k < num_legal - 1 and scratch.weights[k] <= drawn:
            k += 1
        return scratch.legal[k]


RolloutPolicy = OwnRollout | UniformRollout | LinearSoftmax
