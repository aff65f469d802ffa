"""Forced playouts at the root, and policy target pruning.

In self-play every visited move gets at least n(a) = sqrt(k P(a) sum_b N(b)) visits, so that moves with a high noisy
prior are explored. Policy target pruning subtracts forced visits from the target again: from every move but the most
visited one, up to n(a) visits, as long as PUCT would still prefer the most visited move. A move with one visit left
gets none.

Source: Wu, Accelerating self-play learning in Go (2019), section 3.2, with k = 2.
"""

import math

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.contract import sign_of
from azero.mcts.roots.choice import LEFT_TO_SELECTION, is_decided, value_for
from azero.mcts.tree import UNPROVEN


@subroutine
def forced_visits(k, nodes, child):
    """Returns n(a) of a child of the root."""
    return math.sqrt(k * float(nodes[child].P) * max(nodes[0].N - 1, 0))


@subroutine
def forced_child(k, nodes):
    """Returns the first visited child of the root with fewer than n(a) visits; LEFT_TO_SELECTION if there is none."""
    root = nodes[0]
    for child in range(root.first_child, root.first_child + root.num_children):
        node = nodes[child]
        if node.N > 0 and node.proven == UNPROVEN and node.N + node.virtual_loss < forced_visits(k, nodes, child):
            return np.int64(child)
    return LEFT_TO_SELECTION


@subroutine
def prune_forced_visits(selection, k, tree, nodes, visits):
    """Subtracts forced visits from the policy target that `write_policy_target` wrote into `visits` ([A] uint16)."""
    root = nodes[0]
    if is_decided(nodes):
        return
    sign = sign_of(root.player)
    best = root.first_child
    for child in range(root.first_child + 1, root.first_child + root.num_children):
        if visits[nodes[child].action] > visits[nodes[best].action]:
            best = child
    exploration = selection.exploration(root.N, 0, tree.length)
    goal = selection.score(exploration, nodes[best].N, value_for(nodes[best], sign), float(nodes[best].P))
    for child in range(root.first_child, root.first_child + root.num_children):
        node = nodes[child]
        kept = int(visits[node.action])
        if child == best or kept == 0:
            continue
        least = kept - int(forced_visits(k, nodes, child))
        value, prior = value_for(node, sign), float(node.P)
        while kept > max(least, 0) and selection.score(exploration, kept - 1, value, prior) < goal:
            kept -= 1
        visits[node.action] = kept if kept > 1 else 0
