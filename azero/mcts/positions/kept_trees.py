"""Trees of positions that were searched before, kept for when the positions come again; copies of parts of trees."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.mcts.proving.proofs import prove_from_children
from azero.mcts.proving.root_solver import KnownMove
from azero.mcts.tree import NODE_DTYPE, UNPROVEN

_MOST_POSITIONS = 256


class KeptTrees(NamedTuple):
    """The B trees of a position. Nothing is copied: another position gets other arrays."""

    nodes: np.recarray  # [B, M] NODE_DTYPE
    roots: np.ndarray  # [B] NODE_DTYPE, copies of the roots
    trees: np.recarray  # [B] TREE_DTYPE
    known_moves: list[dict[int, KnownMove]]  # for each tree, the solved moves of its root
    is_solver_done: bool  # whether the root's solver needs no further try

    @property
    def visits(self) -> int:
        """Visits of all roots."""
        return int(self.roots["N"].sum())

    @property
    def num_bytes(self) -> int:
        """Memory in use. The rest of the arrays was never written, so it has none."""
        return int(self.trees.num_nodes.sum()) * NODE_DTYPE.itemsize


class TreeMemory:
    """Keeps the trees of positions, within a number of bytes. The positions that were not used for longest go first."""

    def __init__(self, most_bytes: int):
        self._most_bytes, self._num_bytes = most_bytes, 0
        self._kept: OrderedDict[Hashable, KeptTrees] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def keep(self, key: Hashable, kept: KeptTrees) -> None:
        """Keeps the trees of a position. Trees that alone are too large are not kept."""
        self.take(key)
        if kept.num_bytes > self._most_bytes:
            return
        while self._kept and (
            self._num_bytes + kept.num_bytes > self._most_bytes or len(self._kept) == _MOST_POSITIONS
        ):
            self.take(next(iter(self._kept)))
        self._kept[key] = kept
        self._num_bytes += kept.num_bytes

    def take(self, key: Hashable) -> KeptTrees | None:
        """Returns the trees of a position, and keeps them no longer; None if there are none."""
        kept = self._kept.pop(key, None)
        self._num_bytes -= kept.num_bytes if kept else 0
        return kept

    def take_oldest(self) -> KeptTrees | None:
        """As `take`, for the position that was not used for longest."""
        return self.take(next(iter(self._kept))) if self._kept else None


def node_of(nodes: np.recarray, line: list[int]) -> int:
    """Returns the node that `line`, actions from the root on, leads to; -1 if it is not in the tree."""
    index = 0
    for action in line:
        first, count = int(nodes["first_child"][index]), int(nodes["num_children"][index])
        found = np.flatnonzero(nodes["action"][first : first + count] == action) if first else np.zeros(0, np.int64)
        if not len(found):
            return -1
        index = first + int(found[0])
    return index


@kernel
def copy_subtree(nodes, index, copy, tree, is_kept, most):
    """Writes the subtree of node `index` into `copy` ([M] NODE_DTYPE), breadth first; its root is node 0 there.

    Args:
      tree: the record of the copy.
      is_kept: [A] bool, whether a child of the new root is copied, by its action.
      most: how many nodes are copied. The deepest ones are left out; their parents become leaves with visits.
    """
    copy[0] = nodes[index]
    size, done = 1, 0
    while done < size:
        node = copy[done]
        old_first = node.first_child
        if old_first and done > 0 and size + node.num_children > most:
            node.first_child = node.num_children = node.num_visited = 0
        elif old_first:
            node.first_child = size
            num_kept, num_visited = 0, 0
            for k in range(node.num_children):
                if done > 0 or is_kept[nodes[old_first + k].action]:
                    copy[size] = nodes[old_first + k]
                    size += 1
                    num_kept += 1
                    num_visited += k < node.num_visited
            node.num_children, node.num_visited = num_kept, num_visited
        done += 1
    tree.num_nodes = size
    tree.has_noise = 0
    tree.is_full = 0


@kernel
def sum_up_root(is_proving, nodes):
    """Makes a root's visits, value and proof those of its children, after some were dropped; their priors sum to 1."""
    root = nodes[0]
    first, last = root.first_child, root.first_child + root.num_children
    N, W, total = 1, root.W / max(root.N, 1), 0.0
    for child in range(first, last):
        N += nodes[child].N
        W += nodes[child].W
        total += np.float64(nodes[child].P)
    for child in range(first, last):
        share = np.float64(nodes[child].P) / total if total > 0.0 else 1.0 / root.num_children
        nodes[child].P = np.float32(share)
    root.N, root.W, root.proven = N, W, UNPROVEN
    if is_proving:
        prove_from_children(nodes, 0)
