"""Proofs: results that hold whatever comes, carried from the ends of games up the tree.

A move that is proven lost is left alone on the way down: `selection/select_child.py`.

Source: Winands et al., Monte-Carlo tree search solver (2008); lengths are ours.
"""

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN


@subroutine
def weigh_child(win, found, proven, plies):
    """Adds a child to what is found of its siblings, for the mover, whose win is `win`.

    Results come first, then lengths: wins are better short, draws and losses long.

    Returns:
      The best result of those that are proven, its plies, and whether all are; `(-win, -1, True)` is what is found of
      none.
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
    """Returns the mover's result, or UNPROVEN, and its plies, by what is found of all children.

    The mover wins if one child wins, by the shortest way; draws if all are proven and one draws; loses if all
    lose, by the longest way.
    """
    best, plies, all_proven = found
    return best if best == win or all_proven else UNPROVEN, plies + 1


@subroutine
def prove_from_children(nodes, index):
    """Proves node `index` from what is proven of its children; returns whether that is news."""
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
    """Proves what can be proven above the node at place `depth` of the path, from there upwards."""
    for place in range(depth - 1, -1, -1):
        if not prove_from_children(nodes, path[place]):
            return
