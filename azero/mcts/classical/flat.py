"""Plain Monte Carlo: moves of the root tried at random, each followed by a random game; no tree below the root."""

import numpy as np

from azero.compiler.jit import kernel
from azero.compiler.rng import random_below
from azero.games import ONGOING
from azero.mcts.evaluation.batch import Batch
from azero.mcts.search.search import Search
from azero.mcts.tree import create_children


@kernel
def simulate_flat(game, rollout, forest, batch, b, num_simulations):
    """Runs simulations in tree b, to its target at most; returns whether that is reached.

    Source: "MC" of Kocsis & Szepesvari (2006), section 2.1: moves sampled uniformly, the best mean is played.
    """
    tree = forest.trees[b]
    nodes = forest.nodes[b]
    root = nodes[0]
    state = batch.states[0]
    if tree.simulations >= tree.target:
        return True
    if root.first_child == 0:
        create_children(game, tree, nodes, 0, forest.root_states[b], batch.legal)
    for _ in range(num_simulations):
        if tree.simulations >= tree.target:
            return True
        node = nodes[root.first_child + random_below(tree, root.num_children)]
        batch.states[0] = forest.root_states[b]
        game.apply_action(state, np.int64(node.action))
        outcome = game.outcome(state)
        if outcome == ONGOING:
            outcome = rollout.play_out(game, state, batch, tree)
        node.N += 1
        node.W += outcome
        root.N += 1
        root.W += outcome
        tree.simulations += 1
    return tree.simulations >= tree.target


class FlatSearch(Search):
    """A search that looks one move ahead, and beyond that only plays at random."""

    def _simulate(self, b: int, batch: Batch, num_simulations: int) -> bool:
        return simulate_flat(self._rules_of(b), self.rollout, self.forest, batch, b, num_simulations)
