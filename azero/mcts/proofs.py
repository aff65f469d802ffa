"""Proofs: results that hold whatever comes, carried from the ends of games up the tree.

Source: Winands et al., Monte-Carlo tree search solver (2008); lengths are ours.
"""

from azero.jit import subroutine
from azero.mcts.tree import UNPROVEN


@subroutine
def prefer_proof(win, best, best_plies, proven, plies):
    """Returns the better of two proven children for the mover, whose win is `win`: results first, then lengths.

    Wins are better short, draws and losses long.
    """
    if proven == best:
        return best, min(best_plies, plies) if best == win else max(best_plies, plies)
    if proven == win or best == -win:
        return proven, plies
    return best, best_plies


@subroutine
def prove_from_children(nodes, index):
    """Proves node `index` from what is proven of its children; returns whether that is news.

    The mover wins if one child wins, by the shortest way; draws if all are proven and one draws; loses if all
    lose, by the longest way.
    """
    node = nodes[index]
    win = 1 - 2 * node.player
    best = -win
    plies = -1
    all_proven = True
    for child in range(node.first_child, node.first_child + node.num_children):
        proven, length = nodes[child].proven, nodes[child].proven_plies
        if proven == UNPROVEN:
            all_proven = False
        else:
            best, plies = prefer_proof(win, best, plies, proven, length)
    if (best != win and not all_proven) or (node.proven == best and node.proven_plies == plies + 1):
        return False
    node.proven = best
    node.proven_plies = plies + 1
    return True


@subroutine
def carry_proof_up(nodes, path, depth):
    """Proves what can be proven above the node at place `depth` of the path, from there upwards."""
    for place in range(depth - 1, -1, -1):
        if not prove_from_children(nodes, path[place]):
            return
