"""Several trees of one position: each has a thread of its own, and their roots are added up.

Source: root parallelization, Chaslot et al., Parallel Monte-Carlo tree search (2008).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from azero.compiler.jit import kernel
from azero.mcts.proving.proofs import prove_from_children
from azero.mcts.search.deadline import Deadline
from azero.mcts.search.search import Search
from azero.mcts.tree import UNPROVEN, child_of_action, children_of


def search_in_shares(search: Search, num_simulations: int, deadline: Deadline) -> None:
    """Makes simulations in all trees of a search, in equal shares, until the deadline has passed."""
    num_trees = len(search.forest.trees)
    share, num_more = divmod(num_simulations, num_trees)
    search.begin(range(num_trees), share)
    search.forest.trees.target[:num_more] += 1
    search.proceed(range(num_trees), deadline)


@contextmanager
def added_roots(search: Search) -> Iterator[None]:
    """Within the block, the root of tree 0 and its children have the visits, values and proofs of all trees."""
    nodes = search.forest.nodes[0]
    places = [0, *children_of(nodes)]
    before = nodes[places].copy()
    add_roots(search.settings.is_proving, search.forest)
    try:
        yield
    finally:
        nodes[places] = before


@kernel
def add_roots(is_proving, forest):
    """Adds the visits, values and proofs of all roots and their children to those of tree 0."""
    nodes = forest.nodes[0]
    root = nodes[0]
    for b in range(1, len(forest.trees)):
        others = forest.nodes[b]
        if root.first_child == 0 or others[0].first_child == 0:
            continue
        root.N += others[0].N
        root.W += others[0].W
        for k in range(root.first_child, root.first_child + root.num_children):
            child, other = nodes[k], others[child_of_action(others, nodes[k].action)]
            child.N += other.N
            child.W += other.W
            if child.proven == UNPROVEN and other.proven != UNPROVEN:
                child.proven, child.proven_plies = other.proven, other.proven_plies
    if is_proving and root.first_child > 0:
        prove_from_children(nodes, 0)
