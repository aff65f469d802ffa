"""The tree in memory: an arena of nodes for each of B trees, children side by side, legal moves only.

Values inside a tree are the first player's. They are turned to the mover's in one place on the way out, where a
child is selected, and from the mover's in one place on the way in, where an evaluation comes home; so it does not
matter whose turn follows whose.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import RNG_DTYPE
from azero.errors import NO_ACTION, BrokenRules
from azero.games import ONGOING
from azero.games.contract import Rules
from azero.games.state import new_states

UNPROVEN = ONGOING
"""`proven` of a node whose result under best play is not known."""

NODE_DTYPE = np.dtype(
    [
        ("W", np.float64),  # total value of the visits, for the first player
        ("N", np.int32),  # visits
        ("P", np.float32),  # prior of the action that leads here
        ("first_child", np.int32),  # 0: not expanded (the root is nobody's child)
        ("action", np.int16),  # the action that leads here
        ("num_children", np.int16),
        ("num_visited", np.int16),  # children that a rule which visits all first has visited; they lie in front
        ("virtual_loss", np.int16),  # descents through here that are not backed up yet
        ("proven_plies", np.int16),  # plies to the end under best play, where proven
        ("proven", np.int8),  # WIN, DRAW or LOSS for the first player, or UNPROVEN
        ("player", np.int8),  # who moves here, once expanded
    ],
    align=True,
)
assert NODE_DTYPE.itemsize == 32, "two nodes a cache line"

TREE_DTYPE = np.dtype(
    [
        ("rng", RNG_DTYPE),  # the random generator of all that is drawn in this tree
        ("num_nodes", np.int32),  # nodes in use
        ("simulations", np.int32),  # done in this search
        ("target", np.int32),  # to be done in this search
        ("held_back", np.int32),  # of these, to be done only after a pause
        ("is_fast", np.int32),  # whether this search is one of the fast ones of self-play, without noise at the root
        ("pending", np.int32),  # under way: their leaves wait for the evaluator
        ("evaluations", np.int64),  # positions that the evaluator was given since the tree was made
        ("cache_hits", np.int64),  # leaves that it need not judge, since it had judged the position before
        ("length", np.float32),  # plies that a game from the root is expected to last, where the rule asks for it
        ("search_seed", np.uint64),  # of this search's noise, where the root's strategy draws it by action
        ("temperature", np.float64),  # by which that noise is scaled
        ("has_noise", np.int32),  # whether the root's strategy has had its chance to add noise
        ("is_full", np.int32),  # whether a leaf found no room to grow
    ],
    align=True,
)


class Forest(NamedTuple):
    """B trees of at most M nodes each."""

    trees: np.recarray  # [B] TREE_DTYPE
    nodes: np.recarray  # [B, M] NODE_DTYPE; node 0 is the root
    root_states: np.recarray  # [B] the game's state dtype
    spare_nodes: np.recarray  # [M] where a subtree is put together


def new_forest(rules: Rules, num_trees: int, max_nodes: int) -> Forest:
    """Returns blank trees. Pages of memory are taken as nodes come into use, not here."""
    return Forest(
        trees=np.zeros(num_trees, TREE_DTYPE).view(np.recarray),
        nodes=np.empty((num_trees, max_nodes), NODE_DTYPE).view(np.recarray),
        root_states=new_states(rules, num_trees),
        spare_nodes=np.empty(max_nodes, NODE_DTYPE).view(np.recarray),
    )


@subroutine
def clear_node(node, action, prior):
    """Makes `node` an unvisited leaf that `action` leads to."""
    node.W = 0.0
    node.N = 0
    node.P = prior
    node.first_child = 0
    node.action = action
    node.num_children = 0
    node.num_visited = 0
    node.virtual_loss = 0
    node.proven_plies = 0
    node.proven = UNPROVEN
    node.player = 0


def children_of(nodes: np.recarray, index: int = 0) -> range:
    """Returns the children of node `index`; none where it is not expanded."""
    first = int(nodes[index].first_child)
    return range(first, first + int(nodes[index].num_children)) if first else range(0)


@subroutine
def clear_tree(tree, nodes):
    """Leaves the root alone in the tree, unvisited; the random state goes on."""
    clear_node(nodes[0], -1, np.float32(0.0))
    tree.num_nodes = 1
    tree.has_noise = 0
    tree.is_full = 0


@subroutine
def create_children(rules, tree, nodes, index, state, legal):
    """Lays out the children of node `index`, whose position is `state`; returns whether there was room.

    Their priors are equal until an evaluator says otherwise.
    """
    num_children = rules.legal_actions(state, legal)
    if num_children == 0:
        raise BrokenRules(NO_ACTION)
    if tree.num_nodes + num_children > len(nodes):
        tree.is_full = 1
        return False
    node = nodes[index]
    node.first_child = tree.num_nodes
    node.num_children = num_children
    node.player = rules.current_player(state)
    prior = np.float32(1.0 / num_children)
    for k in range(num_children):
        clear_node(nodes[tree.num_nodes + k], legal[k], prior)
    tree.num_nodes += num_children
    return True


@subroutine
def child_of_action(nodes, action):
    """Returns the root's child that `action` leads to, or -1 where the root has none."""
    root = nodes[0]
    for child in range(root.first_child, root.first_child + root.num_children):
        if nodes[child].action == action:
            return child
    return -1


@subroutine
def keep_subtree(tree, nodes, child, spare):
    """Makes node `child` the root and closes the gaps that the rest leaves, breadth first by way of `spare`."""
    spare[0] = nodes[child]
    size = 1
    done = 0
    while done < size:
        node = spare[done]
        old_first = node.first_child
        if old_first:
            node.first_child = size
            for k in range(node.num_children):
                spare[size] = nodes[old_first + k]
                size += 1
        done += 1
    for k in range(size):
        nodes[k] = spare[k]
    tree.num_nodes = size
    tree.has_noise = 0
    tree.is_full = 0


@subroutine
def is_proven_ahead(rules, node, state):
    """Returns whether `node`, whose position is `state`, has a result but no moves yet, and the game goes on."""
    return node.proven != UNPROVEN and node.first_child == 0 and rules.outcome(state) == ONGOING


@subroutine
def play_at_root(rules, forest, b, action):
    """Plays `action` in tree b: the child becomes the root, with what has been learned below it.

    A child that looking ahead has proven, and that has no children yet, is forgotten: a search is to find a move there.
    """
    tree = forest.trees[b]
    nodes = forest.nodes[b]
    child = child_of_action(nodes, action)
    rules.apply_action(forest.root_states[b], np.int64(action))
    if child < 0 or is_proven_ahead(rules, nodes[child], forest.root_states[b]):
        clear_tree(tree, nodes)
    else:
        keep_subtree(tree, nodes, child, forest.spare_nodes)


@kernel
def start_tree(forest, b, state, seed):
    """Puts a new tree with the position `state` and random state `seed` in place b."""
    tree = forest.trees[b]
    tree.rng.counter = seed
    tree.simulations = 0
    tree.target = 0
    tree.held_back = 0
    tree.is_fast = 0
    tree.pending = 0
    tree.evaluations = 0
    tree.cache_hits = 0
    tree.search_seed = 0
    tree.temperature = 0.0
    forest.root_states[b] = state
    clear_tree(tree, forest.nodes[b])


@subroutine
def move_root(rules, forest, b, action, is_keeping):
    """Plays `action` in tree b, and keeps what has been learned below it, or leaves the new root alone."""
    if is_keeping:
        play_at_root(rules, forest, b, action)
    else:
        rules.apply_action(forest.root_states[b], np.int64(action))
        clear_tree(forest.trees[b], forest.nodes[b])


@kernel
def advance_tree(rules, settings, forest, b, action):
    """Plays `action` in tree b, and keeps what its root strategy can go on from."""
    move_root(rules, forest, b, action, settings.root.may_keep_tree())


@subroutine
def backup(nodes, path, depth, value):
    """Adds a visit of `value`, the first player's, to every node on the path."""
    for place in range(depth + 1):
        node = nodes[path[place]]
        node.N += 1
        node.W += value
