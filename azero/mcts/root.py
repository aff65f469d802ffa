"""What happens at the root: noise before a search; the choice of a move, and the policy to learn from, after it."""

import numpy as np

from azero.jit import kernel, subroutine
from azero.mcts.tree import UNPROVEN
from azero.rng import random_gamma, random_unit


@subroutine
def add_noise(nodes, rng, alpha, epsilon):
    """Mixes Dirichlet noise into the root's priors: P(s, a) = (1 - epsilon) p_a + epsilon eta_a, eta ~ Dir(alpha).

    Source: Silver et al., AlphaGo Zero (2017), Methods, self-play.
    """
    root = nodes[0]
    eta = np.empty(root.num_children, np.float64)
    for k in range(root.num_children):
        eta[k] = random_gamma(rng, alpha)
    total = eta.sum()
    for k in range(root.num_children):
        node = nodes[root.first_child + k]
        node.P = np.float32((1.0 - epsilon) * np.float64(node.P) + epsilon * eta[k] / total)


@subroutine
def value_for(node, sign):
    """Returns Q of a node for the player of `sign` (1: the first, -1: the second); exact where it is proven."""
    if node.proven != UNPROVEN:
        return float(sign * node.proven)
    return sign * node.W / node.N if node.N > 0 else 0.0


@subroutine
def decided_child(nodes):
    """Returns the root's child where proofs decide: the shortest win or, where all lose, the longest loss; else -1."""
    root = nodes[0]
    win = 1 - 2 * root.player
    shortest_win = -1
    longest_loss = -1
    num_losses = 0
    for child in range(root.first_child, root.first_child + root.num_children):
        node = nodes[child]
        if node.proven == win:
            if shortest_win < 0 or node.proven_plies < nodes[shortest_win].proven_plies:
                shortest_win = child
        elif node.proven == -win:
            num_losses += 1
            if longest_loss < 0 or node.proven_plies > nodes[longest_loss].proven_plies:
                longest_loss = child
    if shortest_win >= 0:
        return shortest_win
    return longest_loss if num_losses == root.num_children else -1


@subroutine
def is_better(node, rival, sign, is_by_value):
    """Returns whether `node` goes before `rival`: by visits, then value, then prior; by value, then visits, if asked.

    A move without a visit has no value to be chosen by, and goes behind those that have.
    """
    gain = value_for(node, sign) - value_for(rival, sign)
    visits = float(node.N - rival.N)
    is_by_value = is_by_value and node.N > 0 and rival.N > 0
    first, second = (gain, visits) if is_by_value else (visits, gain)
    if first != 0.0:
        return first > 0.0
    if second != 0.0:
        return second > 0.0
    return node.P > rival.P


@subroutine
def greedy_child(nodes, is_by_value):
    """Returns the root's best child: by proof where it decides, else of the most visits (or the highest value)."""
    best = decided_child(nodes)
    if best >= 0:
        return best
    root = nodes[0]
    sign = 1 - 2 * root.player
    for child in range(root.first_child, root.first_child + root.num_children):
        node = nodes[child]
        if node.proven != -sign and (best < 0 or is_better(node, nodes[best], sign, is_by_value)):
            best = child
    return best


@subroutine
def sampled_child(nodes, rng, temperature):
    """Returns a child of the root drawn with probability proportional to N(s, a)^(1 / temperature).

    Proofs go first: a shortest win is played, a lost move only where all lose. Before any visit the priors count.
    """
    decided = decided_child(nodes)
    if decided >= 0:
        return decided
    root = nodes[0]
    last = root.first_child + root.num_children
    lost = -(1 - 2 * root.player)
    most_visits = 0
    for child in range(root.first_child, last):
        if nodes[child].proven != lost:
            most_visits = max(most_visits, nodes[child].N)
    weights = np.zeros(root.num_children, np.float64)
    for k in range(root.num_children):
        node = nodes[root.first_child + k]
        if node.proven != lost:
            weights[k] = (node.N / most_visits) ** (1.0 / temperature) if most_visits > 0 else node.P
    draw = random_unit(rng) * weights.sum()
    chosen = -1
    for k in range(root.num_children):
        if weights[k] > 0.0:
            chosen = root.first_child + k
            draw -= weights[k]
            if draw < 0.0:
                break
    return chosen


@subroutine
def chosen_child(nodes, rng, temperature, is_by_value):
    """Returns the root's child to play: drawn from the visits at a temperature, the best at temperature 0."""
    if temperature > 0.0:
        return sampled_child(nodes, rng, temperature)
    return greedy_child(nodes, is_by_value)


@subroutine
def write_policy_target(nodes, visits):
    """Writes the visit counts to learn from into `visits` ([A] uint16): all on one move where proofs decide.

    Lost moves count nothing; counts above 65535 are written as that.
    """
    visits[:] = 0
    root = nodes[0]
    lost = -(1 - 2 * root.player)
    decided = decided_child(nodes)
    total = 0
    if decided < 0:
        for child in range(root.first_child, root.first_child + root.num_children):
            node = nodes[child]
            if node.proven != lost:
                visits[node.action] = min(node.N, 65535)
                total += node.N
    if total == 0:
        visits[nodes[greedy_child(nodes, False)].action] = max(1, min(root.N, 65535))


@subroutine
def cannot_be_overtaken(nodes, num_left):
    """Returns whether no move of the root can reach the visits of the most visited within `num_left` simulations."""
    root = nodes[0]
    most, second = 0, 0
    for child in range(root.first_child, root.first_child + root.num_children):
        visits = nodes[child].N
        if visits > most:
            most, second = visits, most
        elif visits > second:
            second = visits
    return most - second > num_left


@kernel
def choose_action(forest, b, temperature, is_by_value):
    """Returns the action to play in tree b: see `chosen_child`."""
    nodes = forest.nodes[b]
    return nodes[chosen_child(nodes, forest.trees[b], temperature, is_by_value)].action


@kernel
def rank_children(forest, b, is_by_value, order):
    """Writes the root's children of tree b into `order` ([A] int32), best first; returns how many.

    The first is the greedy choice; then wins by length, moves as `is_better` has them, losses by length.
    """
    nodes = forest.nodes[b]
    root = nodes[0]
    sign = 1 - 2 * root.player
    for k in range(root.num_children):
        child = root.first_child + k
        place = k
        while place > 0 and goes_before(nodes[child], nodes[order[place - 1]], sign, is_by_value):
            order[place] = order[place - 1]
            place -= 1
        order[place] = child
    return root.num_children


@subroutine
def goes_before(node, rival, sign, is_by_value):
    """Returns whether `node` is ranked before `rival`: wins, shortest first; the rest; losses, longest first."""
    rank = 1 if node.proven == sign else -1 if node.proven == -sign else 0
    rival_rank = 1 if rival.proven == sign else -1 if rival.proven == -sign else 0
    if rank != rival_rank:
        return rank > rival_rank
    if rank != 0 and node.proven_plies != rival.proven_plies:
        return (node.proven_plies < rival.proven_plies) == (rank > 0)
    return is_better(node, rival, sign, is_by_value)
