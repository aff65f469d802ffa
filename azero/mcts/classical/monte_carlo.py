"""Plain Monte Carlo: samples moves uniformly, of the root alone, or in the whole tree with minimax values."""

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import random_below
from azero.errors import TOO_LONG, BrokenRules
from azero.games import ONGOING
from azero.games.contract import sign_of
from azero.mcts.scratch import Scratch
from azero.mcts.search.settings import SearchParts
from azero.mcts.search.tree_search import TreeSearch
from azero.mcts.selection import random_child
from azero.mcts.tree import UNPROVEN, Forest, create_children


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


@subroutine
def back_up_minimax(nodes, path, depth, value):
    """Adds a visit to every node on the path. A parent's value becomes the best value of its visited children.

    W / N is a node's value: in a leaf the mean of its rollouts, above the minimax of the leaves.
    """
    leaf = nodes[path[depth]]
    leaf.N += 1
    leaf.W += value
    for place in range(depth - 1, -1, -1):
        node = nodes[path[place]]
        sign = sign_of(node.player)
        best = -np.inf
        for child in range(node.first_child, node.first_child + node.num_visited):
            c = nodes[child]
            best = max(best, sign * c.W / c.N)
        node.N += 1
        node.W = sign * best * node.N


@kernel
def simulate_minimax(parts, is_keeping_episodes, forest, scratch, b, num_simulations):
    """Runs up to `num_simulations` simulations in tree b; returns whether the tree's target is reached.

    If `is_keeping_episodes`, all nodes of a simulation enter the tree, down to the end of the game. Otherwise one node
    does, as in UCT, and the rest is a rollout. When the tree is full, simulations go on as rollouts.

    Source: "MMMC" of Kocsis & Szepesvari (2006), section 3.1, which keeps episodes (Figure 1).
    """
    rules, tree, nodes = parts.rules, forest.trees[b], forest.nodes[b]
    path, state = scratch.path, scratch.states[0]
    for _ in range(num_simulations):
        if tree.simulations >= tree.target:
            return True
        scratch.states[0] = forest.root_states[b]
        index = np.int64(0)
        depth = 0
        path[0] = 0
        while True:
            node = nodes[index]
            if node.N == 0 and depth > 0:
                node.proven = rules.outcome(state)
            if node.proven != UNPROVEN or (node.N == 0 and depth > 0 and not is_keeping_episodes):
                break
            if node.first_child == 0 and not create_children(rules, tree, nodes, index, state, scratch.legal):
                break
            index = random_child(nodes, node, tree.rng)
            rules.apply_action(state, np.int64(nodes[index].action))
            depth += 1
            if depth == len(path):
                raise BrokenRules(TOO_LONG)
            path[depth] = index
        value = float(nodes[index].proven)
        if nodes[index].proven == UNPROVEN:
            value = float(parts.rollout_policy.play_out(rules, state, scratch, tree.rng))
        back_up_minimax(nodes, path, depth, value)
        tree.simulations += 1
    return tree.simulations >= tree.target


def simulate_by_nodes(parts: SearchParts, forest: Forest, scratch: Scratch, b: int, num_simulations: int) -> bool:
    """Runs simulations that each add one node to the tree."""
    return simulate_minimax(parts, False, forest, scratch, b, num_simulations)


def simulate_by_episodes(parts: SearchParts, forest: Forest, scratch: Scratch, b: int, num_simulations: int) -> bool:
    """Runs simulations that each add all their nodes to the tree."""
    return simulate_minimax(parts, True, forest, scratch, b, num_simulations)


class MinimaxSearch(TreeSearch):
    """MMMC: uniform sampling with minimax values. The tree grows by one node per simulation."""

    simulate = staticmethod(simulate_by_nodes)


class EpisodeSearch(TreeSearch):
    """MMMC as in the UCT paper. The tree grows by all nodes of a simulation."""

    simulate = staticmethod(simulate_by_episodes)
