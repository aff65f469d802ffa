"""Searches many trees in lockstep: each runs until it waits for the evaluator, which then evaluates all leaves at once.

A leaf that needs the evaluator is encoded in a view and looked up in the cache. If its answer is not there, it waits in
the batch, and is expanded with the evaluator's answer.

`TreeSearch` and self-play share this loop. They differ in what happens when the search of a tree is over. The methods
of a NamedTuple of slots, one slot per tree, define that:

    is_under_way(b)                          whether slot b has something left to search
    end_search(parts, forest, scratch, b)    called when the search in slot b is over: stores its result and begins the
                                             next search, if there is one; returns whether the slot is finished
    is_clocked()                             whether the walk returns when a tree runs long without a leaf for the
                                             evaluator, so that the caller can check the time
"""

import math
from typing import Any, NamedTuple

import numpy as np

from azero.compiler.jit import bind_strategies, kernel, subroutine
from azero.compiler.rng import random_below
from azero.games.contract import Rules, sign_of
from azero.games.state import new_states
from azero.mcts.evaluation.cache import find_answer, is_caching, keep_answers, read_logits, value_at
from azero.mcts.evaluation.views import copy_numbers, find_canonical, turn
from azero.mcts.proving.lookahead import look_ahead, look_ahead_positions
from azero.mcts.proving.proofs import prove_from_children
from azero.mcts.scratch import new_scratch
from azero.mcts.search.kernels import add_noise_once, descend, finish_simulation, is_done
from azero.mcts.search.settings import SearchParts
from azero.mcts.tree import UNPROVEN, Forest, add_children

WAITING_DTYPE = np.dtype([("leaves", np.int64), ("rows", np.int64), ("collisions", np.int64)])


class Batch(NamedTuple):
    """Up to K leaves that wait for the evaluator, and a tree's collisions: descents to a leaf that waits already.

    The evaluator gets one row of planes per leaf. With a cache, leaves with the same view share a row.
    """

    waiting: np.recarray  # [1] WAITING_DTYPE, the numbers of leaves, of rows, and of collisions
    tree: np.ndarray  # [K] int32, the leaf's tree
    depth: np.ndarray  # [K] int32
    path: np.ndarray  # [K, max_plies + 1] int32, nodes from the root (place 0) to the leaf (place depth)
    symmetry: np.ndarray  # [K] int32, the symmetry in which the evaluator sees the leaf
    row: np.ndarray  # [K] int32, the leaf's row of `planes`
    states: np.recarray  # [K] the game's state dtype
    legal: np.ndarray  # [K, A] int32, the leaf's legal actions
    num_legal: np.ndarray  # [K] int32, the number of these
    key: np.ndarray  # [K] uint64, the hash of each row, if there is a cache
    planes: np.ndarray  # [K, C, H, W] float32, one per row
    bits: np.ndarray  # [K, C * H * W] uint32, the same memory
    collided: np.ndarray  # [most leaves of a tree, max_plies + 1] int32, a collision's path
    collided_depth: np.ndarray  # [most leaves of a tree] int32


def new_batch(rules: Rules, size: int, num_collisions: int) -> Batch:
    """Returns an empty batch with room for `size` leaves."""
    planes = np.zeros((size, *rules.planes_shape), np.float32)
    return Batch(
        waiting=np.zeros(1, WAITING_DTYPE).view(np.recarray),
        tree=np.zeros(size, np.int32),
        depth=np.zeros(size, np.int32),
        path=np.zeros((size, rules.max_plies + 1), np.int32),
        symmetry=np.zeros(size, np.int32),
        row=np.zeros(size, np.int32),
        states=new_states(rules, size),
        legal=np.zeros((size, rules.num_actions), np.int32),
        num_legal=np.zeros(size, np.int32),
        key=np.zeros(size, np.uint64),
        planes=planes,
        bits=planes.view(np.uint32).reshape(size, -1),
        collided=np.zeros((num_collisions, rules.max_plies + 1), np.int32),
        collided_depth=np.zeros(num_collisions, np.int32),
    )


_DESCENTS_AT_ONCE = 256
"""Limit on a tree's descents in one call, if none of them finds a leaf for the evaluator."""


@subroutine
def set_priors(nodes, index, logits, action_of):
    """Sets the children's priors to the softmax of their logits, over legal moves only.

    Args:
      logits: [A] float32, in the view that the evaluator saw.
      action_of: [A] int32, the place of each action in that view: the symmetry's inverse.
    """
    node = nodes[index]
    first, last = node.first_child, node.first_child + node.num_children
    highest = np.float32(-np.inf)
    for child in range(first, last):
        highest = max(highest, logits[action_of[nodes[child].action]])
    total = 0.0
    for child in range(first, last):
        weight = math.exp(np.float64(logits[action_of[nodes[child].action]] - highest))
        nodes[child].P = np.float32(weight)
        total += weight
    for child in range(first, last):
        nodes[child].P = np.float32(np.float64(nodes[child].P) / total)


@subroutine
def expand_leaf(parts, tree, nodes, batch, scratch, leaf, logits, value):
    """Expands a leaf of the batch with the evaluator's answer, and backs up its value.

    Args:
      logits: [A] float32, in the view that the evaluator saw; those of illegal actions are not read.
      value: in [-1, 1], for the player to move.
    """
    rules, settings = parts.rules, parts.settings
    state = batch.states[leaf]
    path, depth = batch.path[leaf], batch.depth[leaf]
    index = path[depth]
    sign = sign_of(rules.current_player(state))
    value = sign * float(value)  # for the first player from here on
    if add_children(rules, tree, nodes, index, state, batch.legal[leaf], batch.num_legal[leaf]):
        set_priors(nodes, index, logits, parts.views.actions[batch.symmetry[leaf]])
        if index == 0:
            add_noise_once(settings, tree, nodes, scratch.weights)
        if settings.is_looking_ahead:
            look_ahead(rules, nodes, index, state, scratch.line, look_ahead_positions(rules, settings, state))
            if settings.is_proving and prove_from_children(nodes, index):
                value = float(nodes[index].proven)
    if settings.rollout_weight > 0.0 and nodes[index].proven == UNPROVEN:
        scratch.states[0] = state
        z = float(parts.rollout_policy.play_out(rules, scratch.states[0], scratch, tree.rng))
        value = (1.0 - settings.rollout_weight) * value + settings.rollout_weight * z
    finish_simulation(settings, tree, nodes, path, depth, value)


@subroutine
def show_leaf(parts, batch, scratch, leaf, rng):
    """Writes a leaf's planes into the next row of the batch.

    The view is canonical if there is a cache; else random if `has_random_symmetry`; else the position's own.
    """
    row = batch.waiting[0].rows
    symmetry = 0
    parts.rules.encode(batch.states[leaf], batch.planes[row])
    if is_caching(parts.cache):
        symmetry, batch.key[row] = find_canonical(parts.views, batch.bits[row], scratch)
    elif parts.settings.has_random_symmetry:
        symmetry = random_below(rng, len(parts.views.targets))
    if symmetry > 0:
        turn(parts.views, symmetry, batch.bits[row], scratch)
    batch.symmetry[leaf] = symmetry


@subroutine
def row_of(batch, key):
    """Returns the batch's row whose view has the hash `key`; the next free row if there is none."""
    num_rows = batch.waiting[0].rows
    found = num_rows
    for row in range(num_rows):
        found = min(found, row if batch.key[row] == key else num_rows)
    return found


@subroutine
def wait_for_answer(cache, tree, nodes, batch, leaf, b):
    """Adds a leaf to those that wait for the evaluator. It shares the row of an equal view, or gets the next row."""
    waiting = batch.waiting[0]
    row = row_of(batch, batch.key[waiting.rows]) if is_caching(cache) else waiting.rows
    if row == waiting.rows:
        waiting.rows += 1
        tree.evaluations += 1
    else:
        tree.cache_hits += 1
    waiting.leaves += 1
    batch.tree[leaf] = b
    batch.row[leaf] = row
    for place in range(batch.depth[leaf] + 1):
        nodes[batch.path[leaf, place]].in_flight += 1
    tree.pending += 1


@subroutine
def select_leaf(parts, forest, batch, scratch, b):
    """Runs simulations in tree b until a leaf needs the evaluator. Returns whether one does; it is in the batch."""
    tree, nodes = forest.trees[b], forest.nodes[b]
    leaf = batch.waiting[0].leaves
    path = batch.path[leaf]
    for _ in range(_DESCENTS_AT_ONCE):
        if is_done(parts.settings, tree, nodes):
            return False
        batch.states[leaf] = forest.root_states[b]
        depth = descend(parts, tree, nodes, path, batch.states[leaf], scratch)
        node = nodes[path[depth]]
        if node.proven != UNPROVEN:
            finish_simulation(parts.settings, tree, nodes, path, depth, float(node.proven))
        elif node.in_flight > 0:  # it waits for the evaluator already
            if not _note_collision(parts.settings, nodes, batch, path, depth):
                return False
        else:
            batch.depth[leaf] = depth
            batch.num_legal[leaf] = parts.rules.legal_actions(batch.states[leaf], batch.legal[leaf])
            show_leaf(parts, batch, scratch, leaf, tree.rng)
            place = _find_known(parts, batch, scratch, leaf)
            if place < 0:
                wait_for_answer(parts.cache, tree, nodes, batch, leaf, b)
                return True
            tree.cache_hits += 1
            expand_leaf(parts, tree, nodes, batch, scratch, leaf, scratch.logits, value_at(parts.cache, place))
    return False


@subroutine
def _note_collision(settings, nodes, batch, path, depth):
    """Counts a descent to a leaf that waits already as one in flight, so that the next one may go elsewhere.

    Returns whether the tree may have one more, which are as many as its leaves that may wait. See `_forget_collisions`.
    Source: Leela Chess Zero, which does the same.
    """
    waiting = batch.waiting[0]
    if waiting.collisions == most_pending(settings, nodes):
        return False
    batch.collided_depth[waiting.collisions] = depth
    for place in range(depth + 1):
        batch.collided[waiting.collisions, place] = path[place]
        nodes[path[place]].in_flight += 1
    waiting.collisions += 1
    return True


@subroutine
def _forget_collisions(nodes, batch):
    """Ends the descents that `_note_collision` counts: the leaves of their tree are collected."""
    for k in range(batch.waiting[0].collisions):
        for place in range(batch.collided_depth[k] + 1):
            nodes[batch.collided[k, place]].in_flight -= 1
    batch.waiting[0].collisions = 0


@subroutine
def _find_known(parts, batch, scratch, leaf):
    """Returns the place of a leaf's answer in the cache, with its logits in `scratch`; -1 if there is none."""
    cache = parts.cache
    if not is_caching(cache):
        return -1
    place = find_answer(cache, batch.key[batch.waiting[0].rows])
    action_of = parts.views.actions[batch.symmetry[leaf]]
    if place >= 0 and read_logits(cache, place, batch.legal[leaf], batch.num_legal[leaf], action_of, scratch.logits):
        return place
    return -1


@subroutine
def expand_and_backup(parts, forest, batch, scratch, logits, values):
    """Applies the evaluator's answer to the batch's first R rows: expands their leaves and backs up their values.

    The other leaves keep waiting; they move to the front of the batch.

    Args:
      logits: [R, A] float32, in the views that the evaluator saw.
      values: [R] float32 in [-1, 1], for the player to move.
    """
    waiting = batch.waiting[0]
    num_rows = len(values)
    kept = 0
    for leaf in range(waiting.leaves):
        row = batch.row[leaf]
        if row >= num_rows:
            _move_leaf(batch, leaf, kept, row - num_rows)
            kept += 1
            continue
        tree = forest.trees[batch.tree[leaf]]
        nodes = forest.nodes[batch.tree[leaf]]
        for place in range(batch.depth[leaf] + 1):
            nodes[batch.path[leaf, place]].in_flight -= 1
        tree.pending -= 1
        expand_leaf(parts, tree, nodes, batch, scratch, leaf, logits[row], values[row])
    for row in range(num_rows, waiting.rows):
        batch.key[row - num_rows] = batch.key[row]
        copy_numbers(batch.bits[row], batch.bits[row - num_rows])
    waiting.leaves = kept
    waiting.rows -= num_rows


@subroutine
def _move_leaf(batch, leaf, place, row):
    """Moves a leaf to an earlier place of the batch, with the row `row`."""
    batch.tree[place] = batch.tree[leaf]
    batch.depth[place] = batch.depth[leaf]
    copy_numbers(batch.path[leaf], batch.path[place])
    batch.symmetry[place] = batch.symmetry[leaf]
    batch.states[place] = batch.states[leaf]
    for k in range(batch.num_legal[leaf]):
        batch.legal[place, k] = batch.legal[leaf, k]
    batch.num_legal[place] = batch.num_legal[leaf]
    batch.row[place] = row


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


@subroutine
def walk_trees(parts, slots, forest, batch, scratch):
    """Searches in every slot until it waits for the evaluator or is finished; returns how many slots finished.

    A tree waits when it has `most_pending` leaves, when too many descents reached leaves that wait already, or when the
    batch is full.
    """
    num_ended = 0
    for b in range(len(forest.trees)):
        tree, nodes = forest.trees[b], forest.nodes[b]
        most = most_pending(parts.settings, nodes)
        room = max(1, len(batch.tree) * most // parts.settings.leaves_per_tree)  # batches share the tree's leaves
        while slots.is_under_way(b) and tree.pending < most and batch.waiting[0].leaves < room:
            if not is_done(parts.settings, tree, nodes):
                is_leaf = select_leaf(parts, forest, batch, scratch, b)
                if not is_leaf and (tree.pending > 0 or slots.is_clocked()):
                    break
            elif tree.pending > 0:
                break
            else:
                num_ended += slots.end_search(parts, forest, scratch, b)
        _forget_collisions(nodes, batch)
    return num_ended


@kernel
def take_turn(parts, slots, forest, batch, scratch, logits, values, is_last):
    """Applies the evaluator's answer to the first rows of the batch, and stores it in the cache, if there is one.

    Then it walks on, unless the turn is the last; returns how many slots finished.
    """
    if len(values):
        if is_caching(parts.cache):
            keep_answers(parts.cache, parts.views, batch, logits, values)
        expand_and_backup(parts, forest, batch, scratch, logits, values)
    return 0 if is_last else walk_trees(parts, slots, forest, batch, scratch)


class Walker:
    """Slots with one tree each, and a batch of their leaves. Walkers may share the trees, and then take turns.

    Args:
      num_leaves: most leaves that wait for the evaluator; by default all that the trees may have.
    """

    def __init__(self, parts: SearchParts, slots: Any, forest: Forest, num_leaves: int | None = None):
        self.parts, self.slots, self.forest = parts, slots, forest
        self.num_slots = len(forest.trees)
        of_tree = parts.settings.leaves_per_tree
        self._batch = new_batch(parts.rules, num_leaves or self.num_slots * of_tree, of_tree)
        self._num_rows = self._batch.waiting.rows  # [1], a view; looking it up each time would cost as much as a leaf
        self.scratch = new_scratch(parts.rules)
        self._nothing = np.zeros((0, parts.rules.num_actions), np.float32), np.zeros(0, np.float32)

    def walk(self) -> int:
        """Searches until each slot waits for the evaluator or is finished; returns how many slots finished."""
        return self.take_turn(self._nothing)

    def take_turn(self, answer: Answer, is_last: bool = False) -> int:
        """Does `apply` and, unless it is the last turn, `walk`; returns how many slots finished."""
        try:
            return int(take_turn(self.parts, self.slots, self.forest, self._batch, self.scratch, *answer, is_last))
        except BaseException:
            self.forget_leaves()  # the batch does not know which of them, and of its collisions, still count
            raise

    @property
    def planes(self) -> np.ndarray:
        """The planes that wait for the evaluator, [R, C, H, W] float32."""
        return self._batch.planes[: self._num_rows[0]]

    def apply(self, answer: Answer) -> None:
        """Expands the leaves of the first rows with the evaluator's answer, and backs up their values.

        The cache, if there is one, stores the answer.
        """
        self.take_turn(answer, is_last=True)

    def forget_leaves(self) -> None:
        """Drops the leaves that still wait, in all trees: the search was interrupted or has failed."""
        if self._batch.waiting[0].leaves or self._batch.waiting[0].collisions:
            for tree, nodes in zip(self.forest.trees, self.forest.nodes, strict=True):
                nodes.in_flight[: tree.num_nodes] = 0
            self.forest.trees.pending[:] = 0
        self._batch.waiting[0] = (0, 0, 0)
