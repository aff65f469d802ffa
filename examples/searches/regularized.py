"""A root that plays and learns the regularized policy, which AlphaZero's visits approximate.

    pi(a) = lambda P(a) / (alpha - q(a)),    lambda = c sqrt(n) / (A + n)

n is the number of visits, A that of the moves. alpha makes the sum of pi 1; bisection finds it between the paper's
bounds. The search is AlphaZero's, so this is the paper's ACT and LEARN. Here an unvisited move has the root's value.

Source: Grill et al., Monte-Carlo tree search as regularized policy optimization (ICML 2020), section 3.
"""

import math
from typing import NamedTuple

from azero.authoring.searches import (
    BY_VISITS,
    TARGET_TOTAL,
    VisitsRoot,
    greedy_child,
    has_value,
    is_decided,
    random_unit,
    sign_of,
    subroutine,
    value_for,
    write_policy_target,
)  # fmt: skip


@subroutine
def q_of(nodes, child):
    sign = sign_of(nodes[0].player)
    return value_for(nodes[child], sign) if has_value(nodes[child]) else sign * nodes[0].W / nodes[0].N


@subroutine
def share(nodes, child, scale, alpha):
    """Returns pi(a); 0 if the move is proven lost."""
    is_lost = nodes[child].proven == -sign_of(nodes[0].player)
    return 0.0 if is_lost else scale * nodes[child].P / max(alpha - q_of(nodes, child), 1e-9)


@subroutine
def solve(c, nodes):
    """Returns lambda and alpha."""
    first, last = nodes[0].first_child, nodes[0].first_child + nodes[0].num_children
    scale = c * math.sqrt(nodes[0].N) / (nodes[0].num_children + nodes[0].N)
    low, high = -math.inf, -math.inf
    for child in range(first, last):
        if nodes[child].proven != -sign_of(nodes[0].player):
            q = q_of(nodes, child)
            low, high = max(low, q + scale * nodes[child].P), max(high, q + scale)
    for _ in range(40):
        alpha, total = (low + high) / 2.0, 0.0
        for child in range(first, last):
            total += share(nodes, child, scale, alpha)
        low, high = (alpha, high) if total > 1.0 else (low, alpha)
    return scale, high


class Regularized(NamedTuple):
    c: float = 1.25  # the constant of the search's exploration
    dirichlet_alpha: float = 1.0
    dirichlet_epsilon: float = 0.0

    begin_search, add_noise, root_child = VisitsRoot.begin_search, VisitsRoot.add_noise, VisitsRoot.root_child
    may_keep_tree = VisitsRoot.may_keep_tree

    def write_target(root, selection, tree, nodes, visits):
        first, last, value = nodes[0].first_child, nodes[0].first_child + nodes[0].num_children, 0.0
        if is_decided(nodes):
            write_policy_target(nodes, visits)
            return value_for(nodes[greedy_child(nodes, BY_VISITS)], sign_of(nodes[0].player))
        scale, alpha = solve(root.c, nodes)
        visits[:] = 0
        for child in range(first, last):
            pi = min(1.0, share(nodes, child, scale, alpha))
            visits[nodes[child].action] = int(pi * TARGET_TOTAL + 0.5)
            value += pi * q_of(nodes, child)
        return max(-1.0, min(1.0, value))

    def best_child(root, settings, tree, nodes):
        return root.child_to_play(settings, tree, nodes, 0.0)

    def child_to_play(root, settings, tree, nodes, temperature):
        """Draws the move from pi at a temperature above 0; at 0 returns that with the greatest share."""
        if is_decided(nodes):
            return greedy_child(nodes, settings.chosen_by)
        scale, alpha = solve(root.c, nodes)
        draw, best, greatest = random_unit(tree.rng), nodes[0].first_child, -1.0
        for child in range(nodes[0].first_child, nodes[0].first_child + nodes[0].num_children):
            pi = share(nodes, child, scale, alpha)
            draw -= pi
            if temperature > 0.0 and draw < 0.0:
                return child
            if pi > greatest:
                best, greatest = child, pi
        return best
