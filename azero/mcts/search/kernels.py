"""The search itself: select a leaf, expand it, back up its value.

One search serves all: with rollouts alone it runs from root to result in `simulate`; with an evaluator (`leaves.py`)
it is `walk_trees` (`lockstep.py`), then the evaluator on the batch, then `expand_and_backup`. What differs is the
selection rule, the root strategy, the leaf value and the rollout policy; all are arguments, compiled into the kernel.
`reference/search.py` is the same in plain Python.
"""

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.errors import TOO_LONG, BrokenRules
from azero.games import ONGOING
from azero.mcts.proving.proofs import carry_proof_up
from azero.mcts.roots.choice import LEFT_TO_SELECTION, cannot_be_overtaken
from azero.mcts.selection.select_child import select_child
from azero.mcts.tree import UNPROVEN, backup, create_children


@subroutine
def start_search(settings, tree, nodes, num_simulations, temperature, weights):
    """Sets a tree its simulations, and prepares its root; `weights` ([A] float64) is room to work in."""
    tree.simulations = 0
    tree.target = num_simulations
    tree.held_back = 0
    settings.root.begin_search(tree, nodes, temperature)
    if nodes[0].first_child > 0:
        add_noise_once(settings, tree, nodes, weights)


@subroutine
def add_noise_once(settings, tree, nodes, weights):
    """Lets the root's strategy add noise to a root that has moves: once, however many searches there are from it."""
    if not tree.has_noise:
        tree.has_noise = 1
        settings.root.add_noise(tree, nodes, weights)


@subroutine
def descend(parts, tree, nodes, path, state, legal):
    """Goes from the root to a leaf: a node that is new, proven, or not expanded. Returns its depth.

    Writes the nodes into `path`; `state`, the root's position, becomes the leaf's. Where there is no evaluator, a
    leaf is expanded on the way at its second visit: its first is a rollout alone.
    """
    rules, settings = parts.rules, parts.settings
    index = np.int64(0)
    depth = 0
    path[0] = 0
    while True:
        node = nodes[index]
        if node.proven != UNPROVEN and depth > 0:
            return depth
        if node.first_child == 0:
            if node.N == 0 and depth > 0:
                outcome = rules.outcome(state)
                if outcome != ONGOING:
                    node.proven = outcome
                return depth
            if not settings.is_rollout_only or not create_children(rules, tree, nodes, index, state, legal):
                return depth
        chosen = settings.root.root_child(tree, nodes) if depth == 0 else LEFT_TO_SELECTION
        if chosen == LEFT_TO_SELECTION:
            chosen = select_child(parts.selection, settings, tree, nodes, index, depth)
        index = chosen
        rules.apply_action(state, np.int64(nodes[index].action))
        depth += 1
        if depth == len(path):
            raise BrokenRules(TOO_LONG)
        path[depth] = index


@subroutine
def is_done(settings, tree, nodes):
    """Returns whether tree has had its simulations, or needs no more of them."""
    if settings.is_proving and nodes[0].proven != UNPROVEN:
        return True
    goal = tree.target - tree.held_back
    num_left = goal - tree.simulations - tree.pending
    if num_left <= 0:
        return True
    # Overtaking the leader takes at least as many visits as it has, so far from the end there is nothing to ask.
    may_stop = settings.is_stopping_early and num_left * 2 <= goal and num_left % 16 == 0
    return may_stop and cannot_be_overtaken(nodes, num_left + tree.pending)


@subroutine
def finish_simulation(settings, tree, nodes, path, depth, value):
    """Backs a value up from the leaf at `depth`, and what is proven there."""
    backup(nodes, path, depth, value)
    if settings.is_proving and nodes[path[depth]].proven != UNPROVEN:
        carry_proof_up(nodes, path, depth)
    tree.simulations += 1


@kernel
def start_searches(settings, forest, trees, num_simulations, temperature, weights):
    """Starts a search in each of the trees ([n] int64); see `start_search`."""
    for b in trees:
        start_search(settings, forest.trees[b], forest.nodes[b], num_simulations, temperature, weights)


@kernel
def simulate(parts, forest, scratch, b, num_simulations):
    """Runs simulations with rollouts in tree b, to its target at most; returns whether the tree is done."""
    settings, tree, nodes = parts.settings, forest.trees[b], forest.nodes[b]
    path, state = scratch.path, scratch.states[0]
    for _ in range(num_simulations):
        if is_done(settings, tree, nodes):
            return True
        scratch.states[0] = forest.root_states[b]
        depth = descend(parts, tree, nodes, path, state, scratch.legal)
        leaf = nodes[path[depth]]
        value = float(leaf.proven)
        if leaf.proven == UNPROVEN:
            value = float(parts.rollout_policy.play_out(parts.rules, state, scratch, tree.rng))
        finish_simulation(settings, tree, nodes, path, depth, value)
    return is_done(settings, tree, nodes)


@kernel
def choose_action(settings, forest, b, temperature):
    """Returns the action to play in tree b, as its root strategy has it."""
    nodes = forest.nodes[b]
    return nodes[settings.root.child_to_play(settings, forest.trees[b], nodes, temperature)].action
