"""The policy target: the visits of the root's moves, which a net learns from."""

from azero.compiler.jit import subroutine
from azero.games.contract import sign_of
from azero.mcts.roots.choice import BY_VISITS, greedy_child, is_decided

TARGET_TOTAL = 30_000
"""What the numbers of a policy target that are no visits add up to, but for rounding."""


@subroutine
def write_policy_target(nodes, visits):
    """Writes the visit counts to learn from into `visits` ([A] uint16): all on one move where proofs decide.

    Lost moves count nothing; counts above 65535 are written as that. Before any visit the priors count, in parts of
    `TARGET_TOTAL`: a draw can be proven so early.
    """
    visits[:] = 0
    root = nodes[0]
    if is_decided(nodes):
        visits[nodes[greedy_child(nodes, BY_VISITS)].action] = max(1, min(root.N, 65535))
        return
    lost = -sign_of(root.player)
    most_visits = 0
    for child in range(root.first_child, root.first_child + root.num_children):
        if nodes[child].proven != lost:
            most_visits = max(most_visits, nodes[child].N)
    for child in range(root.first_child, root.first_child + root.num_children):
        node = nodes[child]
        if node.proven != lost:
            of_prior = max(1, int(float(node.P) * TARGET_TOTAL + 0.5))
            visits[node.action] = min(node.N, 65535) if most_visits > 0 else of_prior
