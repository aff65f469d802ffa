"""The search itself: down to a leaf, grow, and back up.

One search serves all: with rollouts alone it runs from root to result in `simulate`; with an evaluator it is
`select_leaves`, then the evaluator on the batch, then `expand_and_backup`. What differs is the selection rule, the
leaf value and the rollout policy; all are arguments, compiled into the kernel. `reference.py` is the same in plain
Python.
"""

import math

import numpy as np

from azero.errors import TOO_LONG, BrokenRules
from azero.games import ONGOING
from azero.jit import kernel, subroutine
from azero.mcts.proofs import carry_proof_up, prove_from_children
from azero.mcts.root import add_noise, cannot_be_overtaken
from azero.mcts.selection import select_child
from azero.mcts.tree import UNPROVEN, backup, create_children
from azero.rng import random_below

_DESCENTS_AT_ONCE = 256
"""Descents to proven nodes that a tree makes in one call."""


@subroutine
def descend(game, rule, settings, tree, nodes, path, state, legal):
    """Goes from the root to a leaf: a node that is new, proven, or not expanded. Returns its depth.

    Writes the nodes into `path`; `state`, the root's position, becomes the leaf's. Where there is no evaluator, a
    leaf grows on the way at its second visit: its first is a rollout alone.
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
        index = select_child(rule, settings, tree, nodes, index, depth)
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


@subroutine
def encode_leaf(game, settings, symmetries, batch, row, rng):
    """Writes the planes of leaf `row` into the batch, in a random symmetry if that is asked for."""
    symmetry = random_below(rng, len(symmetries.cells)) if settings.has_random_symmetry else 0
    batch.symmetry[row] = symmetry
    if symmetry == 0:
        game.encode(batch.states[row], batch.planes[row])
        return
    work = batch.planes[len(batch.planes) - 1]
    game.encode(batch.states[row], work)
    width = work.shape[2]
    for plane in range(work.shape[0]):
        for cell in range(work.shape[1] * width):
            source = symmetries.cells[symmetry, cell]
            batch.planes[row, plane, cell // width, cell % width] = work[plane, source // width, source % width]


@subroutine
def select_leaf(game, rule, settings, symmetries, forest, batch, b, row):
    """Runs simulations in tree b until one needs the evaluator; returns whether one does: it is leaf `row` then."""
    tree = forest.trees[b]
    nodes = forest.nodes[b]
    path = batch.path[row]
    for _ in range(_DESCENTS_AT_ONCE):
        if is_done(settings, tree, nodes):
            return False
        batch.states[row] = forest.root_states[b]
        depth = descend(game, rule, settings, tree, nodes, path, batch.states[row], batch.legal)
        leaf = nodes[path[depth]]
        if leaf.proven != UNPROVEN:
            finish_simulation(settings, tree, nodes, path, depth, float(leaf.proven))
        elif leaf.virtual_loss > 0:
            return False  # on its way to the evaluator already
        else:
            for place in range(depth + 1):
                nodes[path[place]].virtual_loss += 1
            tree.pending += 1
            tree.evaluations += 1
            batch.tree[row] = b
            batch.depth[row] = depth
            encode_leaf(game, settings, symmetries, batch, row, tree)
            return True
    return False


@kernel
def select_leaves(game, rule, settings, symmetries, forest, batch):
    """Walks all trees down to leaves for the evaluator, `leaves_per_tree` at most in each.

    The first rows of `batch` are the leaves. What needs no evaluator, because it is proven, is backed up at once.

    Returns:
      How many leaves there are, and whether any tree has simulations left to do. There can be such without a leaf:
      where one proven node after another is visited, the caller gets to see the clock in between.
    """
    count = 0
    is_any_left = False
    for b in range(len(forest.trees)):
        for _ in range(settings.leaves_per_tree):
            if not select_leaf(game, rule, settings, symmetries, forest, batch, b, count):
                break
            count += 1
        is_any_left = is_any_left or not is_done(settings, forest.trees[b], forest.nodes[b])
    return count, is_any_left


@subroutine
def set_priors(nodes, index, logits, action_of):
    """Sets the children's priors to the softmax of their logits, over legal moves only.

    Args:
      logits: [A] float32, as the evaluator saw the position.
      action_of: [A] int32, where the evaluator saw each action: the symmetry's inverse.
    """
    node = nodes[index]
    first, last = node.first_child, node.first_child + node.num_children
    highest = np.float32(-np.inf)
    for child in range(first, last):
        highest = max(highest, logits[action_of[nodes[child].action]])
    total = 0.0
    for child in range(first, last):
        weight = math.exp(np.float64(logits[action_of[nodes[child].action]] - highest))
        nodes[child].P = np.float32(weight)
        total += weight
    for child in range(first, last):
        nodes[child].P = np.float32(np.float64(nodes[child].P) / total)


@subroutine
def look_ahead(game, nodes, index, state, work):
    """Finds the children of node `index` at which the game is over."""
    node = nodes[index]
    for child in range(node.first_child, node.first_child + node.num_children):
        work[0] = state
        game.apply_action(work[0], np.int64(nodes[child].action))
        outcome = game.outcome(work[0])
        if outcome != ONGOING:
            nodes[child].proven = outcome


@kernel
def expand_and_backup(game, rollout, settings, inverse_actions, forest, batch, count, logits, values):
    """Takes the evaluator's answer home: each leaf of the batch grows, and its value goes up to the root.

    Args:
      inverse_actions: [S, A] int32, the place of each action as seen through each symmetry.
      count: rows of the batch that are leaves.
      logits: [K, A] float32, of all actions; those of illegal ones are not read.
      values: [K] float32 in [-1, 1], for the player to move.
    """
    work = batch.states[len(batch.states) - 1 :]
    for row in range(count):
        b = batch.tree[row]
        tree = forest.trees[b]
        nodes = forest.nodes[b]
        path = batch.path[row]
        depth = batch.depth[row]
        index = path[depth]
        state = batch.states[row]
        for place in range(depth + 1):
            nodes[path[place]].virtual_loss -= 1
        tree.pending -= 1
        sign = 1 - 2 * game.current_player(state)
        value = sign * float(values[row])  # the one place where a value is turned to the first player's
        if create_children(game, tree, nodes, index, state, batch.legal):
            set_priors(nodes, index, logits[row], inverse_actions[batch.symmetry[row]])
            if index == 0 and settings.dirichlet_epsilon > 0.0:
                add_noise(nodes, tree, settings.dirichlet_alpha, settings.dirichlet_epsilon)
            if settings.is_looking_ahead:
                look_ahead(game, nodes, index, state, work)
                if settings.is_proving and prove_from_children(nodes, index):
                    value = float(nodes[index].proven)
        if settings.rollout_weight > 0.0 and nodes[index].proven == UNPROVEN:
            work[0] = state
            z = float(rollout.play_out(game, work[0], batch, tree))
            value = (1.0 - settings.rollout_weight) * value + settings.rollout_weight * z
        finish_simulation(settings, tree, nodes, path, depth, value)
