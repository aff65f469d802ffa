"""A root that draws each simulation's move from the values: Boltzmann tree search, at the root alone.

    pi(a) = (1 - lambda) softmax(Q(a) / tau) + lambda P(a),    lambda = min(1, epsilon / ln(e + N))

As visits grow, all moves keep being visited in proportion to the exponential of their values, and the move with the
highest value is played. Here Q is the mean of the values, as azero's nodes keep it, where the paper backs up maxima.
What is not drawn from the values is drawn from the net's prior, where the paper draws it uniformly. Below the root the
selection rule chooses.

Source: Painter et al., Monte Carlo tree search with Boltzmann exploration (NeurIPS 2023), section 4.
"""

import math
from typing import NamedTuple

from azero.authoring.searches import BY_VALUE, VisitsRoot, chosen_child, greedy_child, random_unit, sign_of, value_for


class Boltzmann(NamedTuple):
    temperature: float = 0.2
    epsilon: float = 1.0  # how much is drawn from the prior
    dirichlet_alpha: float = 1.0
    dirichlet_epsilon: float = 0.0

    begin_search, add_noise, may_keep_tree = VisitsRoot.begin_search, VisitsRoot.add_noise, VisitsRoot.may_keep_tree
    write_target = VisitsRoot.write_target

    def root_child(root, tree, nodes):
        first, last, sign = nodes[0].first_child, nodes[0].first_child + nodes[0].num_children, sign_of(nodes[0].player)
        from_prior = min(1.0, root.epsilon / math.log(math.e + nodes[0].N))
        highest, total, priors = -1.0, 0.0, 0.0
        for child in range(first, last):
            highest = max(highest, value_for(nodes[child], sign))
        for child in range(first, last):
            if nodes[child].proven != -sign:
                total += math.exp((value_for(nodes[child], sign) - highest) / root.temperature)
                priors += nodes[child].P
        draw, drawn = random_unit(tree.rng), first
        for child in range(first, last):
            if nodes[child].proven != -sign:
                weight = math.exp((value_for(nodes[child], sign) - highest) / root.temperature)
                draw -= (1.0 - from_prior) * weight / total + from_prior * nodes[child].P / max(priors, 1e-9)
                drawn = child
                if draw < 0.0:
                    break
        return drawn

    def best_child(root, settings, tree, nodes):
        return greedy_child(nodes, BY_VALUE)

    def child_to_play(root, settings, tree, nodes, temperature):
        return chosen_child(nodes, tree.rng, temperature, BY_VALUE)
