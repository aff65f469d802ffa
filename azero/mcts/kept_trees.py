"""`Positions`: moves a search from position to position, and keeps the trees of those it leaves.

A position may have several trees: each has a thread of its own, and their roots are added up. Source: root
parallelization, Chaslot et al., Parallel Monte-Carlo tree search (2008).
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.compiler.rng import derive_seed
from azero.games import State
from azero.mcts.proving.proofs import prove_from_children
from azero.mcts.proving.root_solver import KnownMove
from azero.mcts.search.deadline import Deadline
from azero.mcts.search.tree_search import TreeSearch
from azero.mcts.tree import NODE_DTYPE, UNPROVEN, child_of_action, children_of, node_of


def search_in_shares(search: TreeSearch, num_simulations: int, deadline: Deadline) -> None:
    """Makes simulations in all trees of a search, in equal shares, until the deadline has passed."""
    num_trees = len(search.forest.trees)
    share, num_more = divmod(num_simulations, num_trees)
    search.begin(range(num_trees), share)
    search.forest.trees.target[:num_more] += 1
    search.proceed(range(num_trees), deadline)


@contextmanager
def added_roots(search: TreeSearch) -> Iterator[None]:
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


_FEWEST_VISITS = 3
"""Trees with fewer visits are not kept. If many positions take turns, each turn adds few visits."""

_MOST_COPIED = 1 << 20
"""Nodes of a tree that are copied to another position, 32 MiB. To copy more would take longer than a report may."""


class Positions:
    """A search whose trees all have the same position at their roots.

    A position that was searched before gets its trees back. A position that follows the last one begins with its part
    of the last trees, if that has more visits.

    Args:
      kept_bytes: memory of the kept trees.
      seed: of all random choices.

    Attributes:
      state: the position.
      allowed: the only moves that are searched; None: all.
      is_solver_done: whether the position's solver needs no further try.
      can_keep: whether trees can be kept. Some searches have more than trees.
    """

    def __init__(self, search: TreeSearch, kept_bytes: int, seed: int):
        self.search = search
        self.state: State | None = None
        self.allowed: frozenset[int] | None = None
        self.is_solver_done = False
        self.can_keep = type(search) is TreeSearch
        self._memory, self._seed = TreeMemory(kept_bytes), seed
        self._trees = range(len(search.forest.trees))

    @property
    def visits(self) -> int:
        """Visits of the position in all trees, kept ones included."""
        return int(self.search.forest.nodes["N"][:, 0].sum())

    def go_to(self, state: State, allowed: frozenset[int] | None) -> None:
        """Makes `state` the position. Its roots are expanded, so there are two visits of each at least."""
        if self.state is None or self.allowed != allowed or self.state != state:
            kept = self._memory.take(_key_of(state, allowed))  # first of all: keeping others may drop it
            if allowed is not None and kept is None:
                self.go_to(state, None)
                self._leave_out(allowed, self._leave())
            else:
                self._enter(state, allowed, kept, self._leave())
            self.state, self.allowed = state.clone(), allowed
        if (self.search.forest.nodes["first_child"][:, 0] == 0).any():
            search_in_shares(self.search, 2 * len(self._trees), Deadline())

    def remembers(self, state: State) -> bool:
        """Returns whether there are trees of a position, with all of its moves."""
        return (self.allowed is None and self.state == state) or _key_of(state, None) in self._memory

    def _leave(self) -> KeptTrees | None:
        """Returns the trees of the position, and keeps them if they are worth it."""
        if self.state is None or not self.can_keep:
            return None
        forest = self.search.forest
        known_moves = [dict(each) for each in self.search.known_moves]
        records = forest.nodes[:, 0].copy(), forest.trees.copy()
        last = KeptTrees(forest.nodes, *records, known_moves, self.is_solver_done)
        if self.visits >= _FEWEST_VISITS:
            self._memory.keep(_key_of(self.state, self.allowed), last)
        return last

    def _enter(
        self, state: State, allowed: frozenset[int] | None, kept: KeptTrees | None, last: KeptTrees | None
    ) -> None:
        """Makes `state` the root of the trees: from kept trees, from the last trees, or afresh."""
        line = self._line_to(state) if last and allowed is None else []
        roots = [node_of(nodes, line) for nodes in last.nodes] if last and line else []
        below = visits_below(last, roots) if last and roots else 0
        if kept is not None and kept.visits >= below:
            self._start(state, kept.nodes)
            self._take_over(kept)
        else:
            self._start(state, self._new_nodes() if last else None)
            if last is not None and below:
                self._copy_parts(last, roots, None)
                if len(line) == 1 and any(line[0] in known for known in last.known_moves):
                    self.search.forest.nodes["proven"][:, 0] = UNPROVEN  # the solver's proof is not in the tree

    def _line_to(self, state: State) -> list[int]:
        """Returns the actions that lead from the last position to `state`; none if it does not follow it."""
        if self.state is None or self.allowed is not None:
            return []
        before, history = self.state.history(), state.history()
        after, line = self.state.clone(), history[len(before) :]
        if history[: len(before)] != before:
            return []
        for action in line:
            if action not in after.legal_actions():
                return []
            after.apply_action(action)
        return line if after == state else []

    def _leave_out(self, allowed: frozenset[int], whole: KeptTrees | None) -> None:
        """Makes trees with the allowed moves alone, from those of the whole position."""
        assert whole is not None and self.state is not None, "the search has trees"
        self._start(self.state, self._new_nodes())
        self._copy_parts(whole, [0] * len(self._trees), allowed)
        for b, known in enumerate(whole.known_moves):
            sum_up_root(self.search.settings.is_proving, self.search.forest.nodes[b])
            self.search.known_moves[b] = {action: move for action, move in known.items() if action in allowed}
        self.is_solver_done = True  # it would solve the whole position

    def _start(self, state: State, nodes: np.recarray | None) -> None:
        """Starts all trees afresh, with other nodes if they are given."""
        if nodes is not None:
            self.search.use_nodes(nodes)
        for b in self._trees:
            self.search.start(b, state, derive_seed(self._seed, "analyse", b), is_repeatable=False)
        self.is_solver_done = False

    def _take_over(self, kept: KeptTrees) -> None:
        """Goes on with kept trees, whose nodes are in use already."""
        self.search.forest.nodes[:, 0] = kept.roots
        for name in ("num_nodes", "has_noise", "is_full"):
            self.search.forest.trees[name] = kept.trees[name]
        self.search.known_moves[:] = kept.known_moves
        self.is_solver_done = kept.is_solver_done

    def _copy_parts(self, last: KeptTrees, roots: list[int], allowed: frozenset[int] | None) -> None:
        """Copies the subtrees of the nodes `roots` of the last trees, with the allowed moves alone."""
        is_kept = np.full(self.search.game.num_actions, allowed is None)
        is_kept[list(allowed or ())] = True
        forest = self.search.forest
        for b, root in enumerate(roots):
            copy_subtree(last.nodes[b], root, forest.nodes[b], forest.trees[b], is_kept, _MOST_COPIED)

    def _new_nodes(self) -> np.recarray:
        """Returns blank nodes. The operating system allocates memory only when they come into use."""
        shape = self.search.forest.nodes.shape
        while True:
            try:
                return np.empty(shape, NODE_DTYPE).view(np.recarray)
            except MemoryError:
                if self._memory.take_oldest() is None:
                    raise


def visits_below(last: KeptTrees, roots: list[int]) -> int:
    """Returns the visits of the nodes `roots`, one in each tree; 0 if one of them is not there or not expanded."""
    if -1 in roots:
        return 0
    found = last.nodes[range(len(roots)), roots]
    return int(found["N"].sum()) if (found["first_child"] > 0).all() else 0


def _key_of(state: State, allowed: frozenset[int] | None) -> Hashable:
    """Returns what trees of a position are kept under."""
    position = state.hash_key() if state.game.rules.is_history_free else state.record.tobytes()
    return position, allowed
