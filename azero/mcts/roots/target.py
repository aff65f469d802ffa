"""The policy target: the visits of the root's moves, from which a net learns."""

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.contract import sign_of
from azero.mcts.roots.choice import BY_VISITS, greedy_child, is_decided

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
