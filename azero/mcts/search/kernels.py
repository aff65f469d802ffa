"""The search itself: select a leaf, expand it, back up its value.

One search serves all: with rollouts alone it runs from root to result in `simulate`; with an evaluator (`leaves.py`)
it is `select_leaves`, then the evaluator on the batch, then `expand_and_backup`. What differs is the selection rule,
the leaf value and the rollout policy; all are arguments, compiled into the kernel. `reference/search.py` is the same in
plain Python.
"""

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.errors import TOO_LONG, BrokenRules
from azero.games import ONGOING
from azero.mcts.proving.proofs import carry_proof_up
from azero.mcts.roots.choice import cannot_be_overtaken
from azero.mcts.roots.forced_playouts import forced_child
from azero.mcts.roots.gumbel import halving_child
from azero.mcts.selection.children import select_child
from azero.mcts.tree import UNPROVEN, backup, create_children


@subroutine
def descend(game, rule, settings, tree, nodes, path, state, legal):
    """Goes from the root to a leaf: a node that is new, proven, or not expanded. Returns its depth.

    Writes the nodes into `path`; `state`, the root's position, becomes the leaf's. Where there is no evaluator, a
    leaf is expanded on the way at its second visit: its first is a rollout alone.
    """
    index = np.int64(0)
    depth = 0
    path[0] = 0
    while True:
        node = nodes[index]
        if node.proven != UNPROVEN and depth > 0:
            return depth
        if node.first_child == 0:
            if node.N == 0 and depth > 0:
                outcome = game.outcome(state)
                if outcome != ONGOING:
                    node.proven = outcome
                return depth
            if not settings.is_rollout_only or not create_children(game, tree, nodes, index, state, legal):
                return depth
        if depth == 0 and settings.gumbel_considered > 0:
            index = halving_child(settings, tree, nodes)
        else:
            is_forcing = depth == 0 and settings.forced_playouts > 0.0 and not tree.is_fast
            forced = forced_child(settings, nodes) if is_forcing else np.int64(0)
            index = forced if forced > 0 else select_child(rule, settings, tree, nodes, index, depth)
        game.apply_action(state, np.int64(nodes[index].action))
        depth += 1
        if depth == len(path):
            raise BrokenRules(TOO_LONG)
        path[depth] = index


@subroutine
def is_done(settings, tree, nodes):
    """Returns whether tree has had its simulations, or needs no more of them."""
    if settings.is_proving and nodes[0].proven != UNPROVEN:
        return True
    num_left = tree.target - tree.simulations - tree.pending
    if num_left <= 0:
        return True
    # Overtaking the leader takes at least as many visits as it has, so far from the end there is nothing to ask.
    may_stop = settings.is_stopping_early and num_left * 2 <= tree.target and num_left % 16 == 0
    return may_stop and cannot_be_overtaken(nodes, num_left + tree.pending)


@subroutine
def finish_simulation(settings, tree, nodes, path, depth, value):
    """Backs a value up from the leaf at `depth`, and what is proven there."""
    backup(nodes, path, depth, value)
    if settings.is_proving and nodes[path[depth]].proven != UNPROVEN:
        carry_proof_up(nodes, path, depth)
    tree.simulations += 1


@kernel
def simulate(game, rule, rollout, settings, forest, batch, b, num_simulations):
    """Runs simulations with rollouts in tree b, to its target at most; returns whether the tree is done."""
    tree = forest.trees[b]
    nodes = forest.nodes[b]
    path = batch.path[0]
    state = batch.states[0]
    for _ in range(num_simulations):
        if is_done(settings, tree, nodes):
            return True
        batch.states[0] = forest.root_states[b]
        depth = descend(game, rule, settings, tree, nodes, path, state, batch.legal)
        leaf = nodes[path[depth]]
        value = float(leaf.proven)
        if leaf.proven == UNPROVEN:
            value = float(rollout.play_out(game, state, batch, tree))
        finish_simulation(settings, tree, nodes, path, depth, value)
    return is_done(settings, tree, nodes)
