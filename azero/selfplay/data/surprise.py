"""Policy surprise weighting: positions whose search result surprised the net are sampled more often."""

import math

import numpy as np

from azero.compiler.jit import kernel
from azero.games import Game
from azero.mcts import Evaluator
from azero.selfplay.data.samples import encode_as_played
from azero.selfplay.data.shard import Shard

_AT_ONCE = 1024  # positions


def weigh_by_surprise(game: Game, evaluator: Evaluator, shard: Shard, share: float) -> Shard:
    """Returns the shard with `share` of each game's weight distributed by surprise among its training positions.

    The rest of the weight is uniform, and the total of a game does not change. Weights from before are ignored, so a
    shard can be weighed again. The surprise of a position is KL(policy target || the net's prior) in nats. The net's
    evaluations of these positions are added to the shard's.

    Source: Wu, KataGo, docs/KataGoMethods.md, "Policy surprise weighting" (a share of 0.5).
    """
    if share == 0:
        return shard
    uniform = np.sign(shard.weights)
    learnt = np.flatnonzero(uniform)
    surprises = np.zeros(shard.num_positions)
    surprises[learnt] = surprises_of(game, evaluator, shard, learnt)
    game_of = np.repeat(np.arange(len(shard.lengths)), shard.lengths)
    game_weights, game_surprises = (np.bincount(game_of, each)[game_of] for each in (uniform, surprises))
    by_surprise = np.where(game_surprises > 0, game_weights * surprises / np.maximum(game_surprises, 1e-30), uniform)
    weights = ((1 - share) * uniform + share * by_surprise).astype(np.float32)
    return shard._replace(weights=weights, evaluations=shard.evaluations + len(learnt))


def surprises_of(game: Game, evaluator: Evaluator, shard: Shard, indices: np.ndarray) -> np.ndarray:
    """Returns the surprise of the positions at `indices` ([k] int64) of a shard, in nats, [k] float64."""
    states, legal = shard.states.view(np.recarray), np.empty(game.num_actions, np.int32)
    surprises, policies = np.empty(len(indices)), shard.policies()
    for first in range(0, len(indices), _AT_ONCE):
        some = indices[first : first + _AT_ONCE]
        as_played = np.zeros(len(some), np.int64)
        logits, _ = evaluator.evaluate(encode_as_played(game, shard.states, some))
        targets = policies.probabilities(game, some, as_played)
        _diverge(game.rules, states[some], targets, logits, legal, surprises[first : first + _AT_ONCE])
    return surprises


@kernel
def _diverge(rules, states, policies, logits, legal, divergences):
    """Writes KL(policy || softmax of the legal actions' logits) of n positions. Policies and logits are [n, A]."""
    for row in range(len(states)):
        num_legal = rules.legal_actions(states[row], legal)
        highest = -math.inf
        for k in range(num_legal):
            highest = max(highest, float(logits[row, legal[k]]))
        total = 0.0
        for k in range(num_legal):
            total += math.exp(logits[row, legal[k]] - highest)
        divergence = 0.0
        for k in range(num_legal):
            p = float(policies[row, legal[k]])
            if p > 0.0:
                divergence += p * (math.log(p) - (logits[row, legal[k]] - highest - math.log(total)))
        divergences[row] = max(0.0, divergence)
