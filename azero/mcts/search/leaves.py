"""Leaves that need the evaluator: encoded in a view, looked up in the cache, expanded with the evaluator's answer."""

import math

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import random_below
from azero.games.contract import sign_of
from azero.mcts.evaluation.batch import copy_numbers
from azero.mcts.evaluation.cache import find_answer, is_caching, read_logits, value_at
from azero.mcts.evaluation.views import find_canonical, turn
from azero.mcts.proving.lookahead import look_ahead, look_ahead_positions
from azero.mcts.proving.proofs import prove_from_children
from azero.mcts.search.kernels import add_noise_once, descend, finish_simulation, is_done
from azero.mcts.tree import UNPROVEN, add_children

_DESCENTS_AT_ONCE = 256
"""Limit on a tree's descents in one call, if none of them finds a leaf for the evaluator."""


@subroutine
def set_priors(nodes, index, logits, action_of):
    """Sets the children's priors to the softmax of their logits, over legal moves only.

    Args:
      logits: [A] float32, in the view that the evaluator saw.
      action_of: [A] int32, the place of each action in that view: the symmetry's inverse.
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
def expand_leaf(parts, tree, nodes, batch, scratch, leaf, logits, value):
    """Expands a leaf of the batch with the evaluator's answer, and backs up its value.

    Args:
      logits: [A] float32, in the view that the evaluator saw; those of illegal actions are not read.
      value: in [-1, 1], for the player to move.
    """
    rules, settings = parts.rules, parts.settings
    state = batch.states[leaf]
    path, depth = batch.path[leaf], batch.depth[leaf]
    index = path[depth]
    sign = sign_of(rules.current_player(state))
    value = sign * float(value)  # for the first player from here on
    if add_children(rules, tree, nodes, index, state, batch.legal[leaf], batch.num_legal[leaf]):
        set_priors(nodes, index, logits, parts.views.actions[batch.symmetry[leaf]])
        if index == 0:
            add_noise_once(settings, tree, nodes, scratch.weights)
        if settings.is_looking_ahead:
            look_ahead(rules, nodes, index, state, scratch.line, look_ahead_positions(rules, settings, state))
            if settings.is_proving and prove_from_children(nodes, index):
                value = float(nodes[index].proven)
    if settings.rollout_weight > 0.0 and nodes[index].proven == UNPROVEN:
        scratch.states[0] = state
        z = float(parts.rollout_policy.play_out(rules, scratch.states[0], scratch, tree.rng))
        value = (1.0 - settings.rollout_weight) * value + settings.rollout_weight * z
    finish_simulation(settings, tree, nodes, path, depth, value)


@subroutine
def show_leaf(parts, batch, scratch, leaf, rng):
    """Writes a leaf's planes into the next row of the batch.

    The view is canonical if there is a cache; else random if `has_random_symmetry`; else the position's own.
    """
    row = batch.waiting[0].rows
    symmetry = 0
    parts.rules.encode(batch.states[leaf], batch.planes[row])
    if is_caching(parts.cache):
        symmetry, batch.key[row] = find_canonical(parts.views, batch.bits[row], scratch)
    elif parts.settings.has_random_symmetry:
        symmetry = random_below(rng, len(parts.views.targets))
    if symmetry > 0:
        turn(parts.views, symmetry, batch.bits[row], scratch)
    batch.symmetry[leaf] = symmetry


@subroutine
def row_of(batch, key):
    """Returns the batch's row whose view has the hash `key`; the next free row if there is none."""
    num_rows = batch.waiting[0].rows
    found = num_rows
    for row in range(num_rows):
        found = min(found, row if batch.key[row] == key else num_rows)
    return found


@subroutine
def wait_for_answer(cache, tree, nodes, batch, leaf, b):
    """Adds a leaf to those that wait for the evaluator. It shares the row of an equal view, or gets the next row."""
    waiting = batch.waiting[0]
    row = row_of(batch, batch.key[waiting.rows]) if is_caching(cache) else waiting.rows
    if row == waiting.rows:
        waiting.rows += 1
        tree.evaluations += 1
    else:
        tree.cache_hits += 1
    waiting.leaves += 1
    batch.tree[leaf] = b
    batch.row[leaf] = row
    for place in range(batch.depth[leaf] + 1):
        nodes[batch.path[leaf, place]].in_flight += 1
    tree.pending += 1


@subroutine
def select_leaf(parts, forest, batch, scratch, b):
    """Runs simulations in tree b until a leaf needs the evaluator. Returns whether one does; it is in the batch."""
    tree, nodes = forest.trees[b], forest.nodes[b]
    leaf = batch.waiting[0].leaves
    path = batch.path[leaf]
    for _ in range(_DESCENTS_AT_ONCE):
        if is_done(parts.settings, tree, nodes):
            return False
        batch.states[leaf] = forest.root_states[b]
        depth = descend(parts, tree, nodes, path, batch.states[leaf], scratch)
        node = nodes[path[depth]]
        if node.proven != UNPROVEN:
            finish_simulation(parts.settings, tree, nodes, path, depth, float(node.proven))
        elif node.in_flight > 0:
            return False  # it waits for the evaluator already
        else:
            batch.depth[leaf] = depth
            batch.num_legal[leaf] = parts.rules.legal_actions(batch.states[leaf], batch.legal[leaf])
            show_leaf(parts, batch, scratch, leaf, tree.rng)
            place = _find_known(parts, batch, scratch, leaf)
            if place < 0:
                wait_for_answer(parts.cache, tree, nodes, batch, leaf, b)
                return True
            tree.cache_hits += 1
            expand_leaf(parts, tree, nodes, batch, scratch, leaf, scratch.logits, value_at(parts.cache, place))
    return False


@subroutine
def _find_known(parts, batch, scratch, leaf):
    """Returns the place of a leaf's answer in the cache, with its logits in `scratch`; -1 if there is none."""
    cache = parts.cache
    if not is_caching(cache):
        return -1
    place = find_answer(cache, batch.key[batch.waiting[0].rows])
    action_of = parts.views.actions[batch.symmetry[leaf]]
    if place >= 0 and read_logits(cache, place, batch.legal[leaf], batch.num_legal[leaf], action_of, scratch.logits):
        return place
    return -1


@kernel
def expand_and_backup(parts, forest, batch, scratch, logits, values):
    """Applies the evaluator's answer to the batch's first R rows: expands their leaves and backs up their values.

    The other leaves keep waiting; they move to the front of the batch.

    Args:
      logits: [R, A] float32, in the views that the evaluator saw.
      values: [R] float32 in [-1, 1], for the player to move.
    """
    waiting = batch.waiting[0]
    num_rows = len(values)
    kept = 0
    for leaf in range(waiting.leaves):
        row = batch.row[leaf]
        if row >= num_rows:
            _move_leaf(batch, leaf, kept, row - num_rows)
            kept += 1
            continue
        tree = forest.trees[batch.tree[leaf]]
        nodes = forest.nodes[batch.tree[leaf]]
        for place in range(batch.depth[leaf] + 1):
            nodes[batch.path[leaf, place]].in_flight -= 1
        tree.pending -= 1
        expand_leaf(parts, tree, nodes, batch, scratch, leaf, logits[row], values[row])
    for row in range(num_rows, waiting.rows):
        batch.key[row - num_rows] = batch.key[row]
        copy_numbers(batch.bits[row], batch.bits[row - num_rows])
    waiting.leaves = kept
    waiting.rows -= num_rows


@subroutine
def _move_leaf(batch, leaf, place, row):
    """Moves a leaf to an earlier place of the batch, with the row `row`."""
    batch.tree[place] = batch.tree[leaf]
    batch.depth[place] = batch.depth[leaf]
    copy_numbers(batch.path[leaf], batch.path[place])
    batch.symmetry[place] = batch.symmetry[leaf]
    batch.states[place] = batch.states[leaf]
    for k in range(batch.num_legal[leaf]):
        batch.legal[place, k] = batch.legal[leaf, k]
    batch.num_legal[place] = batch.num_legal[leaf]
    batch.row[place] = row
