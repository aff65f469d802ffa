"""Which move of the root is best, and which one is played."""

import math

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import random_unit
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN

CHOSEN_BY = ("visits", "value", "bound")
"""What the best move may be chosen by, as settings name it; kernels are given its index, BY_VISITS and so on."""

BY_VISITS, BY_VALUE, BY_BOUND = range(len(CHOSEN_BY))


LEFT_TO_SELECTION = np.int64(0)
"""In place of a child of the root: the selection rule is to choose one. Node 0 is the root, and so nobody's child."""


@subroutine
def value_for(node, sign):
    """Returns Q of a node for the player of `sign` (1: the first, -1: the second); exact where it is proven."""
    if node.proven != UNPROVEN:
        return float(sign * node.proven)
    return sign * node.W / node.N if node.N > 0 else 0.0


@subroutine
def has_value(node):
    """Returns whether anything is known of what a node is worth."""
    return node.N > 0 or node.proven != UNPROVEN


@subroutine
def is_decided(nodes):
    """Returns whether proofs decide what to play at the root: one move wins, or all lose."""
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
    """Returns what a node is worth at least, as far as its visits tell: Q - 1 / sqrt(N); exact where it is proven.

    Source: Leela Zero and KataGo choose by the lower bound of an interval for Q. Theirs takes its width from how much
    the values of the visits differ, which nodes would have to keep.
    """
    bound = value_for(node, sign)
    return bound if node.proven != UNPROVEN or node.N == 0 else bound - 1.0 / math.sqrt(node.N)


@subroutine
def is_better(node, rival, sign, chosen_by):
    """Returns whether `node` goes before `rival`: by visits, then value, then prior; by value or bound, then visits.

    Proofs come first: wins, the shortest first, then what is open or drawn, then losses, the longest first. A move
    with neither visit nor proof has no value to be chosen by, and goes behind those that have.
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
    """Returns the root's best child, as `is_better` has it; of equals the first."""
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

    A move that is proven lost is not drawn. Before any visit the priors count.
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
    return chosen


@subroutine
def _weight(node, most_visits, temperature):
    """Returns (N / most_visits)^(1 / temperature), or the prior where nothing has been visited."""
    if most_visits == 0:
        return float(node.P)
    return math.exp(math.log(node.N / most_visits) / temperature) if node.N > 0 else 0.0


@subroutine
def chosen_child(nodes, rng, temperature, chosen_by):
    """Returns the root's child to play: drawn from the visits at a temperature, the best at temperature 0.

    Proofs go first: a shortest win is played, and where all moves lose the one that holds out longest.
    """
    if temperature > 0.0 and not is_decided(nodes):
        return sampled_child(nodes, rng, temperature)
    return greedy_child(nodes, chosen_by)


@subroutine
def cannot_be_overtaken(nodes, num_left):
    """Returns whether no move of the root can reach the visits of the most visited within `num_left` simulations.

    Moves that are proven lost are out of it.
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
    """Writes the root's children of tree b into `order`, int32 with room for all, best first; returns how many."""
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
