"""`Positions`: moves a search from position to position, and keeps the trees of those it leaves."""

from collections.abc import Hashable

import numpy as np

from azero.compiler.rng import derive_seed
from azero.games import State
from azero.mcts.positions.kept_trees import KeptTrees, TreeMemory, copy_subtree, node_of, sum_up_root
from azero.mcts.positions.several_trees import search_in_shares
from azero.mcts.search.deadline import Deadline
from azero.mcts.search.search import Search
from azero.mcts.tree import NODE_DTYPE, UNPROVEN

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

    def __init__(self, search: Search, kept_bytes: int, seed: int):
        self.search = search
        self.state: State | None = None
        self.allowed: frozenset[int] | None = None
        self.is_solver_done = False
        self.can_keep = type(search) is Search
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
        for name in ("num_nodes", "has_noise", "is_full", "length"):
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
