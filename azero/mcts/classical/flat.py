"""Plain Monte Carlo: samples moves of the root at random, each followed by a rollout. The tree has no deeper nodes."""

import numpy as np

from azero.compiler.jit import kernel
from azero.compiler.rng import random_below
from azero.games import ONGOING
from azero.mcts.search.search import TreeSearch
from azero.mcts.tree import create_children


@kernel
def simulate_flat(parts, forest, scratch, b, num_simulations):
    """Runs up to `num_simulations` simulations in tree b; returns whether the tree's target is reached.

    Source: "MC" of Kocsis & Szepesvari (2006), section 2.1: moves are sampled uniformly, and the best mean is played.
    """
    rules, tree, nodes = parts.rules, forest.trees[b], forest.nodes[b]
    root, state = nodes[0], scratch.states[0]
    if tree.simulations >= tree.target:
        return True
    if root.first_child == 0:
        create_children(rules, tree, nodes, 0, forest.root_states[b], scratch.legal)
    for _ in range(num_simulations):
        if tree.simulations >= tree.target:
            return True
        node = nodes[root.first_child + random_below(tree.rng, root.num_children)]
        scratch.states[0] = forest.root_states[b]
        rules.apply_action(state, np.int64(node.action))
        outcome = rules.outcome(state)
        if outcome == ONGOING:
            outcome = parts.rollout_policy.play_out(rules, state, scratch, tree.rng)
        node.N += 1
        node.W += outcome
        root.N += 1
        root.W += outcome
        tree.simulations += 1
    return tree.simulations >= tree.target


class FlatSearch(TreeSearch):
    """A search whose tree is the root and its children."""

    simulate = staticmethod(simulate_flat)
