"""AlphaZero's root: visits decide the move and the policy target. Noise is optional."""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import subroutine
from azero.compiler.rng import random_gamma
from azero.config.schema import Config
from azero.games.contract import sign_of
from azero.mcts.roots.ranking import BY_VISITS, LEFT_TO_SELECTION, chosen_child, greedy_child, is_decided, value_for

LEAST_TOTAL = 1e-300
"""Least sum of the gamma variates. Smaller ones may be subnormal, whose shares are wrong."""


@subroutine
def mix_noise(nodes, rng, alpha, epsilon, eta):
    """Mixes Dirichlet noise into the root's priors: P(s, a) = (1 - epsilon) p_a + epsilon eta_a, eta ~ Dir(alpha).

    `eta` ([A] float64) is scratch memory. If all variates underflow, with a tiny alpha, the priors stay as they are.

    Source: Silver et al., AlphaGo Zero (2017), Methods, self-play.
    """
    root = nodes[0]
    total = 0.0
    for k in range(root.num_children):
        eta[k] = random_gamma(rng, alpha)
        total += eta[k]
    if total < LEAST_TOTAL:
        return
    for k in range(root.num_children):
        node = nodes[root.first_child + k]
        node.P = np.float32((1.0 - epsilon) * np.float64(node.P) + epsilon * eta[k] / total)


TARGET_TOTAL = 30_000
"""Total of a policy target that is made of probabilities instead of visits, up to rounding."""

LARGEST_COUNT = 65_535
"""The largest number in a target."""


@subroutine
def write_policy_target(nodes, visits):
    """Writes the policy target into `visits` ([A] uint16): visit counts, or one move only if proofs decide it.

    Moves that are proven lost get 0. If a count is above `LARGEST_COUNT`, all are scaled down to it. If no move has a
    visit, the target is the priors times `TARGET_TOTAL`. This happens if a draw is proven before the first visit.
    """
    visits[:] = 0
    root = nodes[0]
    if is_decided(nodes):
        visits[nodes[greedy_child(nodes, BY_VISITS)].action] = max(1, min(root.N, LARGEST_COUNT))
        return
    lost = -sign_of(root.player)
    most_visits = 0
    for child in range(root.first_child, root.first_child + root.num_children):
        if nodes[child].proven != lost:
            most_visits = max(most_visits, nodes[child].N)
    for child in range(root.first_child, root.first_child + root.num_children):
        node = nodes[child]
        if node.proven != lost:
            if most_visits == 0:
                visits[node.action] = max(1, int(float(node.P) * TARGET_TOTAL + 0.5))
            elif most_visits <= LARGEST_COUNT:
                visits[node.action] = node.N
            elif node.N > 0:
                visits[node.action] = max(1, np.int64(node.N) * LARGEST_COUNT // most_visits)


class VisitsRoot(NamedTuple):
    """The selection rule chooses at the root as below it.

    Dirichlet noise makes the search explore moves with a low prior. Fast searches have none.
    """

    dirichlet_alpha: float = 1.0
    dirichlet_epsilon: float = 0.0  # the noise's share of the root's priors

    def begin_search(root, tree, nodes, temperature):
        pass

    def add_noise(root, tree, nodes, weights):
        if root.dirichlet_epsilon > 0.0 and not tree.is_fast:
            mix_noise(nodes, tree.rng, root.dirichlet_alpha, root.dirichlet_epsilon, weights)

    def root_child(root, tree, nodes):
        return LEFT_TO_SELECTION

    def write_target(root, selection, tree, nodes, visits):
        write_policy_target(nodes, visits)
        return value_for(nodes[0], sign_of(nodes[0].player))

    def best_child(root, settings, tree, nodes):
        return greedy_child(nodes, settings.chosen_by)

    def child_to_play(root, settings, tree, nodes, temperature):
        return chosen_child(nodes, tree.rng, temperature, settings.chosen_by)

    def may_keep_tree(root):
        return True

    @classmethod
    def from_config(cls, config: Config) -> "VisitsRoot":
        """Returns the root of a run's self-play."""
        return cls(config.selfplay.dirichlet_alpha, config.selfplay.dirichlet_epsilon)
