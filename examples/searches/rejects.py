"""A Gumbel root with another budget: successive rejects in place of sequential halving.

Of K moves, one is rejected after each of K - 1 phases, instead of half of them after each of log2 K rounds. After phase
k each move that is left has n_k visits:

    n_k = ceil((n - K) / (L (K + 1 - k))),    L = 1 / 2 + sum_{i=2..K} 1 / i

So moves that are clearly worse get fewer visits, and the last few more. The move that goes has the least
g + logits + sigma(q), as at a Gumbel root. What is played and learned is also the Gumbel root's.

Source: Audibert, Bubeck & Munos, Best arm identification in multi-armed bandits (COLT 2010), figure 3.
"""

import math

from azero.authoring.searches import GumbelRoot, best_child_of_visits, sign_of, subroutine


@subroutine
def scheduled_visits(num_simulations, num_considered, t):
    """Returns the number of visits of the move that simulation t = 0, 1, ... goes to."""
    harmonic = 0.5
    for i in range(2, num_considered + 1):
        harmonic += 1.0 / i
    visits = 0
    for k in range(1, num_considered):
        left = num_considered + 1 - k
        wanted = max(visits, 1, math.ceil((num_simulations - num_considered) / (harmonic * left)))
        if t < (wanted - visits) * left:
            return visits + t // left
        t -= (wanted - visits) * left
        visits = wanted
    return visits + t // min(2, num_considered)


class Rejects(GumbelRoot):
    def root_child(root, tree, nodes):
        lost = -sign_of(nodes[0].player)
        num_open, t = 0, 0
        for child in range(nodes[0].first_child, nodes[0].first_child + nodes[0].num_children):
            if nodes[child].proven != lost:
                num_open += 1
                t += nodes[child].N + nodes[child].in_flight
        num_left = tree.target - tree.simulations - tree.pending
        visits = scheduled_visits(t + num_left, min(num_open, root.num_considered), t)
        return best_child_of_visits(root, tree, nodes, visits)
