"""The ranking of the root's moves: which move is best, and which one is played."""

import math

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import random_unit
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN

CHOSEN_BY = ("visits", "value", "bound")
"""Criteria for the best move, by their names in settings. Kernels take the index: BY_VISITS, BY_VALUE or BY_BOUND."""

BY_VISITS, BY_VALUE, BY_BOUND = range(len(CHOSEN_BY))


LEFT_TO_SELECTION = np.int64(0)
"""Returned instead of a child of the root: the selection rule chooses. Node 0 is the root, which is never a child."""


@subroutine
def value_for(node, sign):
    """Returns Q of a node for the player of `sign` (1: the first, -1: the second); exact if it is proven."""
    if node.proven != UNPROVEN:
        return float(sign * node.proven)
    return sign * node.W / node.N if node.N > 0 else 0.0


@subroutine
def has_value(node):
    """Returns whether a node has a value: a visit or a proof."""
    return node.N > 0 or node.proven != UNPROVEN


@subroutine
def is_decided(nodes):
    """Returns whether proofs decide the move at the root: one move wins, or all lose."""
    root = nodes[0]
    win = sign_of(root.player)
    num_lost = 0
    for child in range(root.first_child, root.first_child + root.num_children):
        if nodes[child].proven == win:
            return True
        num_lost += nodes[child].proven == -win
    return num_lost == root.num_children


@subroutine
def lower_bound(node, sign):
    """Returns a lower bound of a node's value: Q - 1 / sqrt(N); exact if it is proven.

    Source: Leela Zero and KataGo choose by the lower bound of a confidence interval for Q. Their interval uses the
    variance of the values, which our nodes do not store.
    """
    bound = value_for(node, sign)
    return bound if node.proven != UNPROVEN or node.N == 0 else bound - 1.0 / math.sqrt(node.N)


@subroutine
def is_better(node, rival, sign, chosen_by):
    """Returns whether `node` ranks above `rival`.

    Proofs come first: wins, the shortest first, then open and drawn moves, then losses, the longest first. Ties are
    broken by the criterion `chosen_by`: by visits, then value; or by value or bound, then visits. The prior comes last.
    If the criterion is value or bound, a move with neither visit nor proof ranks below all others that are open or
    drawn.
    """
    rank = sign * node.proven if node.proven != UNPROVEN else 0
    rival_rank = sign * rival.proven if rival.proven != UNPROVEN else 0
    if rank != rival_rank:
        return rank > rival_rank
    if rank != 0 and node.proven_plies != rival.proven_plies:
        return (node.proven_plies < rival.proven_plies) == (rank > 0)
    if chosen_by != BY_VISITS and has_value(node) != has_value(rival):
        return has_value(node)
    visits = float(node.N - rival.N)
    if chosen_by == BY_BOUND:
        first, second = lower_bound(node, sign) - lower_bound(rival, sign), visits
    else:
        gain = value_for(node, sign) - value_for(rival, sign)
        first, second = (gain, visits) if chosen_by == BY_VALUE else (visits, gain)
    if first != 0.0:
        return first > 0.0
    if second != 0.0:
        return second > 0.0
    return node.P > rival.P


@subroutine
def greedy_child(nodes, chosen_by):
    """Returns the root's best child by `is_better`; of equals the first."""
    root = nodes[0]
    sign = sign_of(root.player)
    best = root.first_child
    for child in range(root.first_child + 1, root.first_child + root.num_children):
        if is_better(nodes[child], nodes[best], sign, chosen_by):
            best = child
    return best


@subroutine
def sampled_child(nodes, rng, temperature):
    """Returns a child of the root drawn with probability proportional to N(s, a)^(1 / temperature).

    A move that is proven lost is not drawn. If no move has a visit, the priors are the probabilities. If these are 0,
    too, it is the best child.
    """
    root = nodes[0]
    last = root.first_child + root.num_children
    lost = -sign_of(root.player)
    most_visits = 0
    for child in range(root.first_child, last):
        if nodes[child].proven != lost:
            most_visits = max(most_visits, nodes[child].N)
    total = 0.0
    for child in range(root.first_child, last):
        if nodes[child].proven != lost:
            total += _weight(nodes[child], most_visits, temperature)
    draw = random_unit(rng) * total
    chosen = -1
    for child in range(root.first_child, last):
        if nodes[child].proven != lost:
            weight = _weight(nodes[child], most_visits, temperature)
            if weight > 0.0:
                chosen = child
                draw -= weight
                if draw < 0.0:
                    break
    return chosen if chosen >= 0 else greedy_child(nodes, BY_VISITS)


@subroutine
def _weight(node, most_visits, temperature):
    """Returns (N / most_visits)^(1 / temperature), or the prior if no move has a visit."""
    if most_visits == 0:
        return float(node.P)
    return math.exp(math.log(node.N / most_visits) / temperature) if node.N > 0 else 0.0


@subroutine
def chosen_child(nodes, rng, temperature, chosen_by):
    """Returns the root's child to play: drawn from the visits at a temperature above 0, the best at temperature 0.

    Proofs come first: the shortest win is played. If all moves lose, the longest loss is played.
    """
    if temperature > 0.0 and not is_decided(nodes):
        return sampled_child(nodes, rng, temperature)
    return greedy_child(nodes, chosen_by)


@subroutine
def cannot_be_overtaken(nodes, num_left):
    """Returns whether no other move of the root can reach the visits of the most visited in `num_left` simulations.

    Moves that are proven lost are ignored.
    """
    root = nodes[0]
    lost = -sign_of(root.player)
    most, second = 0, 0
    for child in range(root.first_child, root.first_child + root.num_children):
        visits = nodes[child].N
        if nodes[child].proven == lost:
            continue
        if visits > most:
            most, second = visits, most
        elif visits > second:
            second = visits
    return most - second > num_left


@kernel
def rank_children(forest, b, chosen_by, order):
    """Writes the root's children of tree b into `order` ([>= children] int32), best first; returns how many."""
    nodes = forest.nodes[b]
    root = nodes[0]
    sign = sign_of(root.player)
    for k in range(root.num_children):
        child = root.first_child + k
        place = k
        while place > 0 and is_better(nodes[child], nodes[order[place - 1]], sign, chosen_by):
            order[place] = order[place - 1]
            place -= 1
        order[place] = child
    return root.num_children
