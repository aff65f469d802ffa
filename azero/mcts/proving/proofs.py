"""Proofs: results under best play, backed up the tree from the ends of games.

Selection does not visit moves that are proven lost; see `select_child`.

Source: Winands et al., Monte-Carlo tree search solver (2008). The lengths of proofs are ours.
"""

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN


@subroutine
def weigh_child(win, found, proven, plies):
    """Updates `found`, the summary of a node's children, by one more child. `win` is the mover's win.

    Results are compared first, then lengths: short wins are better, and long draws and losses.

    Returns:
      The summary: the best proven result, its plies, and whether all children are proven. That of no children is
      `(-win, -1, True)`.
    """
    best, longest, all_proven = found
    if proven == UNPROVEN:
        return best, longest, False
    if proven == best:
        return best, min(longest, plies) if best == win else max(longest, plies), all_proven
    if proven == win or best == -win:
        return np.int64(proven), np.int64(plies), all_proven
    return best, longest, all_proven


@subroutine
def conclude(win, found):
    """Returns a node's result, or UNPROVEN, and its plies, by the summary of all its children.

    The mover wins if one child wins; the shortest win counts. The mover draws if all children are proven, none wins,
    and one draws. The mover loses if all children lose; the longest loss counts.
    """
    best, plies, all_proven = found
    return best if best == win or all_proven else UNPROVEN, plies + 1


@subroutine
def prove_from_children(nodes, index):
    """Proves node `index` from its children if they allow it; returns whether the proof is new."""
    node = nodes[index]
    win = sign_of(node.player)
    found = -win, -1, True
    for child in range(node.first_child, node.first_child + node.num_children):
        found = weigh_child(win, found, nodes[child].proven, nodes[child].proven_plies)
    proven, plies = conclude(win, found)
    if proven == UNPROVEN or (node.proven == proven and node.proven_plies == plies):
        return False
    node.proven = proven
    node.proven_plies = plies
    return True


@subroutine
def carry_proof_up(nodes, path, depth):
    """Backs up proofs from the node at place `depth` of the path, until a node gets no new proof."""
    for place in range(depth - 1, -1, -1):
        if not prove_from_children(nodes, path[place]):
            return
