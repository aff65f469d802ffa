"""Principal variations: the lines of play that a search prefers."""

from collections.abc import Sequence

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN


def principal_variations(nodes: np.recarray, starts: np.ndarray, longest: int) -> list[list[int]]:
    """Returns, for each node of `starts` ([n] int32), its action and the actions along the best children below it.

    The best child is the best by proof, else by visits. A line ends before a child that is neither visited nor proven.
    No line is longer than `longest`.
    """
    line, ends = np.empty(len(starts) * longest, np.int32), np.empty(len(starts), np.int64)
    _follow(nodes, starts, line, ends)
    stops = ends.tolist()
    actions = line[: stops[-1]].tolist() if stops else []
    return [actions[begin:end] for begin, end in zip([0, *stops], stops, strict=False)]


def is_proven_end(nodes: np.recarray, line: Sequence[int]) -> bool:
    """Returns whether the node at the end of a line from the root is proven.

    It is not if the line is not in the tree, where a whole turn is one move.
    """
    index = 0
    for action in line:
        first = int(nodes["first_child"][index])
        children = nodes["action"][first : first + int(nodes["num_children"][index])]
        found = np.flatnonzero(children == action)
        if not len(found):
            return False
        index = first + int(found[0])
    return bool(nodes["proven"][index] != UNPROVEN)


@kernel
def _follow(nodes, starts, line, ends):
    """Writes the principal variations from the nodes `starts` into `line`, one after another, and their `ends`."""
    end = 0
    for k in range(len(starts)):
        index = np.int64(starts[k])
        line[end] = nodes[index].action
        end += 1
        while nodes[index].first_child > 0:
            node = nodes[index]
            # If the rule visits all children once first, the visited ones come first. The rest is not read.
            count = node.num_visited if node.num_visited > 0 else node.num_children
            index = best_of(nodes, node.first_child, count, sign_of(node.player))
            if nodes[index].N == 0 and nodes[index].proven == UNPROVEN:
                break
            line[end] = nodes[index].action
            end += 1
        ends[k] = end


@subroutine
def best_of(nodes, first, count, sign):
    """Returns the place of the best of `count` nodes from `first` on, for the mover of `sign`; of equals the first."""
    best = np.int64(first)
    for child in range(first + 1, first + count):
        if preference(nodes[child], sign) > preference(nodes[best], sign):
            best = np.int64(child)
    return best


@subroutine
def preference(node, sign):
    """Returns a key that orders a node's children for its mover, whose `sign` is 1 (first player) or -1 (second)."""
    if node.proven == UNPROVEN:
        return 0.0, float(node.N), float(sign * node.W)
    result = sign * node.proven
    if result == 0:
        return 0.0, float(node.N), 0.0
    return float(result), float(-result * node.proven_plies), 0.0
