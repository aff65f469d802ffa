"""Plain Monte Carlo with minimax values: moves sampled uniformly all over a tree, of whose values the best is kept."""

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.errors import TOO_LONG, BrokenRules
from azero.games.contract import sign_of
from azero.mcts.scratch import Scratch
from azero.mcts.search.search import Search
from azero.mcts.search.settings import SearchParts
from azero.mcts.selection.select_child import random_child
from azero.mcts.tree import UNPROVEN, Forest, create_children


@subroutine
def back_up_minimax(nodes, path, depth, value):
    """Adds a visit to every node on the path; a parent's value becomes the best of its visited children's.

    W / N is a node's value, as everywhere: the mean of its rollouts in a leaf, the minimax of leaves above.
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
    """Runs simulations in tree b, to its target at most; returns whether that is reached.

    Where episodes are kept, every node of a simulation enters the tree, down to the end of the game. Otherwise one node
    does, as in UCT, and the rest is a rollout. A full tree plays on by rollouts in both cases.

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
    """Runs simulations of which each adds a node to the tree."""
    return simulate_minimax(parts, False, forest, scratch, b, num_simulations)


def simulate_by_episodes(parts: SearchParts, forest: Forest, scratch: Scratch, b: int, num_simulations: int) -> bool:
    """Runs simulations of which each adds all its nodes to the tree."""
    return simulate_minimax(parts, True, forest, scratch, b, num_simulations)


class MinimaxSearch(Search):
    """A search that samples moves uniformly and trusts the best of them; its tree grows by one node a simulation."""

    simulate = staticmethod(simulate_by_nodes)


class EpisodeSearch(Search):
    """The same search as in the UCT paper: its tree grows by all the nodes of a simulation."""

    simulate = staticmethod(simulate_by_episodes)
