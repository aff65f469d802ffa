"""A search tree as arrays, for analysis: who the parents are, and the statistics of each node."""

from dataclasses import dataclass

import numpy as np

from azero.compiler.jit import kernel
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN, Forest


@dataclass(frozen=True)
class SearchTree:
    """A copy of a search tree of M nodes. Node 0 is the root. A parent comes before its children.

    Node i stands for the action a that leads to it from its parent s. Its values are for the player to move at s. The
    values of the root are for the player to move there.

    Attributes:
      parent: [M] int32; -1 for the root.
      action: [M] int32; -1 for the root.
      depth: [M] int32, plies from the root.
      N: [M] int32, visits N(s, a). Unvisited children of visited nodes are in the tree, too.
      P: [M] float32, prior P(s, a); 0 for the root.
      Q: [M] float64 in [-1, 1], mean value Q(s, a); 0 without a visit. It ignores proofs.
      proven: [M] int8, the result under best play: 1 win, 0 draw, -1 loss; 2 if it is unknown.
    """

    parent: np.ndarray
    action: np.ndarray
    depth: np.ndarray
    N: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    proven: np.ndarray

    def __len__(self) -> int:
        return len(self.parent)

    def children(self, node: int = 0) -> np.ndarray:
        """Returns the children of a node, [k] int64, in no particular order."""
        return np.flatnonzero(self.parent == node)


def tree_of(forest: Forest, b: int) -> SearchTree:
    """Returns a copy of tree b."""
    nodes = forest.nodes[b, : int(forest.trees[b].num_nodes)].view(np.ndarray)
    parent, depth = np.full(len(nodes), -1, np.int32), np.zeros(len(nodes), np.int32)
    _link(forest.nodes[b], parent, depth)
    signs = sign_of(nodes["player"][np.maximum(parent, 0)])
    proven = np.where(nodes["proven"] == UNPROVEN, UNPROVEN, signs * nodes["proven"])
    return SearchTree(
        parent=parent,
        action=nodes["action"].astype(np.int32),
        depth=depth,
        N=nodes["N"].copy(),
        P=nodes["P"].copy(),
        Q=mean_values(signs, nodes),
        proven=proven.astype(np.int8),
    )


def mean_values(signs: np.ndarray | int, nodes: np.ndarray) -> np.ndarray:
    """Returns Q of nodes ([n] NODE_DTYPE), [n] float64, for the players of `signs`; 0 without a visit."""
    return signs * nodes["W"] / np.maximum(nodes["N"], 1) + 0.0


@kernel
def _link(nodes, parent, depth):
    """Writes parents and depths, [M] int32, of the first M nodes."""
    for index in range(len(parent)):
        node = nodes[index]
        if node.first_child > 0:
            for child in range(node.first_child, node.first_child + node.num_children):
                parent[child] = index
                depth[child] = depth[index] + 1
