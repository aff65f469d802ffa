"""Searches many trees in lockstep: each runs until it waits for the evaluator, which then evaluates all leaves at once.

`TreeSearch` and self-play share this loop. They differ in what happens when the search of a tree is over. The methods
of a NamedTuple of slots, one slot per tree, define that:

    is_under_way(b)                          whether slot b has something left to search
    end_search(parts, forest, scratch, b)    called when the search in slot b is over: stores its result and begins the
                                             next search, if there is one; returns whether the slot is finished
    is_clocked()                             whether the walk returns when a tree runs long without a leaf for the
                                             evaluator, so that the caller can check the time
"""

from typing import Any

import numpy as np

from azero.compiler.jit import bind_strategies, kernel, subroutine, uninterrupted_kernel
from azero.mcts.evaluation.batch import new_batch
from azero.mcts.evaluation.cache import is_caching, keep_answers
from azero.mcts.scratch import new_scratch
from azero.mcts.search.kernels import is_done
from azero.mcts.search.leaves import expand_and_backup, select_leaf
from azero.mcts.search.settings import SearchParts
from azero.mcts.tree import Forest

Answer = tuple[np.ndarray, np.ndarray]
"""An evaluator's answer to R positions: logits [R, A] and values [R], both float32."""

FIRST_LEAVES = 4
"""Leaves of a new tree that may wait, if their number depends on the root's visits."""

bind_strategies(is_under_way=("b",), end_search=("parts", "forest", "scratch", "b"), is_clocked=())


@subroutine
def most_pending(settings, nodes):
    """Returns how many leaves of a tree may wait. In a small tree, many would make the search less sharp."""
    if settings.visits_per_leaf == 0:
        return settings.leaves_per_tree
    return min(settings.leaves_per_tree, FIRST_LEAVES + nodes[0].N // settings.visits_per_leaf)


@kernel
def walk_trees(parts, slots, forest, batch, scratch):
    """Searches in every slot until it waits for the evaluator or is finished; returns how many slots finished.

    A tree waits when it has `most_pending` leaves, when its next leaf waits already, or when the batch is full.
    """
    num_ended = 0
    for b in range(len(forest.trees)):
        tree, nodes = forest.trees[b], forest.nodes[b]
        most = most_pending(parts.settings, nodes)
        room = max(1, len(batch.tree) * most // parts.settings.leaves_per_tree)  # threads share the tree's leaves
        while slots.is_under_way(b) and tree.pending < most and batch.waiting[0].leaves < room:
            if not is_done(parts.settings, tree, nodes):
                is_leaf = select_leaf(parts, forest, batch, scratch, b)
                if not is_leaf and (tree.pending > 0 or slots.is_clocked()):
                    break
            elif tree.pending > 0:
                break
            else:
                num_ended += slots.end_search(parts, forest, scratch, b)
    return num_ended


@subroutine
def apply_answer(parts, forest, batch, scratch, logits, values):
    """Applies the evaluator's answer to the first rows of the batch, and stores it in the cache, if there is one."""
    if len(values):
        if is_caching(parts.cache):
            keep_answers(parts.cache, parts.views, batch, logits, values)
        expand_and_backup(parts, forest, batch, scratch, logits, values)


@uninterrupted_kernel
def take_turn(parts, slots, forest, batch, scratch, logits, values, is_last):
    """Applies the evaluator's answer to the batch and, unless it is the last, walks on. No other thread interrupts."""
    apply_answer(parts, forest, batch, scratch, logits, values)
    return 0 if is_last else walk_trees(parts, slots, forest, batch, scratch)


@kernel
def walk_on(parts, slots, forest, batch, scratch, logits, values):
    """Applies the evaluator's answer to the batch, and walks on."""
    apply_answer(parts, forest, batch, scratch, logits, values)
    return walk_trees(parts, slots, forest, batch, scratch)


class Walker:
    """Slots with one tree each, and the memory that one thread needs to search them.

    Args:
      num_leaves: most leaves that wait for the evaluator; by default all that the trees may have.
    """

    def __init__(self, parts: SearchParts, slots: Any, forest: Forest, num_leaves: int | None = None):
        self.parts, self.slots, self.forest = parts, slots, forest
        self.num_slots = len(forest.trees)
        self._batch = new_batch(parts.rules, num_leaves or self.num_slots * parts.settings.leaves_per_tree)
        self._num_rows = self._batch.waiting.rows  # [1], a view; looking it up each time would cost as much as a leaf
        self.scratch = new_scratch(parts.rules)

    def walk(self) -> int:
        """Searches until each slot waits for the evaluator or is finished; returns how many slots finished."""
        return int(walk_trees(self.parts, self.slots, self.forest, self._batch, self.scratch))

    def take_turn(self, answer: Answer, is_last: bool = False) -> int:
        """Does `keep`, `apply_evaluations` and, unless it is the last turn, `walk`; returns how many slots finished.

        Threads that share the trees take turns: no other thread interrupts one.
        """
        return int(take_turn(self.parts, self.slots, self.forest, self._batch, self.scratch, *answer, is_last))

    def walk_on(self, answer: Answer) -> int:
        """Does `keep`, `apply_evaluations` and `walk`; returns how many slots finished.

        One call takes Python's lock once, which is faster if many threads wait for it. But it is a kernel more to
        compile.
        """
        return int(walk_on(self.parts, self.slots, self.forest, self._batch, self.scratch, *answer))

    @property
    def planes(self) -> np.ndarray:
        """The planes that wait for the evaluator, [R, C, H, W] float32."""
        return self._batch.planes[: self._num_rows[0]]

    def keep(self, answer: Answer) -> None:
        """Stores the evaluator's answer to the first rows of the planes in the cache, if there is one."""
        if self.parts.settings.cache_mib:
            keep_answers(self.parts.cache, self.parts.views, self._batch, *answer)

    def apply_evaluations(self, answer: Answer) -> None:
        """Expands the leaves of the first rows with the evaluator's answer, and backs up their values."""
        expand_and_backup(self.parts, self.forest, self._batch, self.scratch, *answer)

    def forget_leaves(self) -> None:
        """Drops the leaves that still wait: the search was interrupted or has failed.

        If it failed while an answer was applied, the batch does not know which leaves still wait. So the visits in
        flight of all trees are cleared.
        """
        if self._batch.waiting[0].leaves:
            for tree, nodes in zip(self.forest.trees, self.forest.nodes, strict=True):
                nodes.in_flight[: tree.num_nodes] = 0
            self.forest.trees.pending[:] = 0
        self._batch.waiting[0].leaves = self._batch.waiting[0].rows = 0
