"""Policy surprise weighting: positions are drawn the more often, the less the net expected what the search found."""

import math

import numpy as np

from azero.games import Game
from azero.jit import kernel
from azero.mcts import Evaluator
from azero.selfplay.records import Shard
from azero.selfplay.replay import make_sample

_AT_ONCE = 1024  # positions


def weigh_by_surprise(game: Game, evaluator: Evaluator, shard: Shard, share: float) -> Shard:
    """Returns the shard with this share of each game's weight given out by surprise, among the positions to learn from.

    The surprise of a position is KL(policy to learn || the net's prior) in nats; what is not shared out stays where it
    was, and a game keeps its total.

    Source: Wu, KataGo, docs/KataGoMethods.md, "Policy surprise weighting" (a share of 0.5).
    """
    learnt = np.flatnonzero(shard.weights)
    surprises = np.zeros(shard.num_positions)
    for first in range(0, len(learnt), _AT_ONCE):
        indices = learnt[first : first + _AT_ONCE]
        sample = make_sample(game, shard, indices, np.zeros(len(indices), np.int64))
        logits, _ = evaluator.evaluate(sample.planes)
        legal = np.empty(game.num_actions, np.int32)
        found = np.empty(len(indices))
        _diverge(game.rules, shard.states.view(np.recarray)[indices], sample.policies, logits, legal, found)
        surprises[indices] = found
    number = np.repeat(np.arange(len(shard.lengths)), shard.lengths)  # of each position's game
    total, of_game = np.bincount(number, shard.weights)[number], np.bincount(number, surprises)[number]
    by_surprise = np.where(of_game > 0, total * surprises / np.maximum(of_game, 1e-30), shard.weights)
    weights = (1 - share) * shard.weights + share * by_surprise
    return shard._replace(weights=weights.astype(np.float32))


@kernel
def _diverge(game, states, policies, logits, legal, divergences):
    """Writes KL(policy || softmax of the logits of legal actions) of n positions: policies and logits are [n, A]."""
    for row in range(len(states)):
        num_legal = game.legal_actions(states[row], legal)
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
