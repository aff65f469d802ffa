"""The tree in memory: one array of nodes for each of B trees. The children of a node are adjacent; all are legal moves.

Values in a tree are the first player's. Selection converts them to the mover's point of view. `expand_leaf` converts
the evaluator's values from the mover's point of view. Backup needs no sign changes, so players need not alternate.
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
"""Value of `proven` if the node's result under best play is unknown."""

NODE_DTYPE = np.dtype(
    [
        ("W", np.float64),  # total value of all visits, for the first player
        ("N", np.int32),  # visits
        ("P", np.float32),  # prior of the action that leads here
        ("first_child", np.int32),  # 0: not expanded (node 0 is the root, which is never a child)
        ("action", np.int16),  # the action that leads here
        ("num_children", np.int16),
        ("num_visited", np.int16),  # visited children, for rules that visit every child once first; they come first
        ("in_flight", np.int16),  # descents through this node that are not backed up yet
        ("proven_plies", np.int16),  # plies to the end under best play, if proven; see HAS_NO_REFUTATION, too
        ("proven", np.int8),  # WIN, DRAW or LOSS for the first player, or UNPROVEN
        ("player", np.int8),  # the player to move; set when the node is expanded
    ],
    align=True,
)
assert NODE_DTYPE.itemsize == 32, "two nodes per cache line"

TREE_DTYPE = np.dtype(
    [
        ("rng", RNG_DTYPE),  # random generator of this tree
        ("num_nodes", np.int32),  # nodes in use
        ("simulations", np.int32),  # simulations done in this search
        ("target", np.int32),  # simulations that this search will do
        ("held_back", np.int32),  # how many of these are done only after a pause
        ("is_fast", np.int32),  # whether this is a fast search of self-play, without noise at the root
        ("pending", np.int32),  # simulations whose leaves wait for the evaluator
        ("evaluations", np.int64),  # positions given to the evaluator since the tree was made
        ("cache_hits", np.int64),  # leaves that were evaluated without the evaluator
        ("length", np.float32),  # expected plies of a game from the root, if the selection rule needs it
        ("search_seed", np.uint64),  # seed of this search's noise, if the root strategy draws noise per action
        ("temperature", np.float64),  # scale of that noise
        ("has_noise", np.int32),  # whether the root strategy's `add_noise` was called for this root
        ("is_full", np.int32),  # whether a leaf could not be expanded for lack of nodes
    ],
    align=True,
)


class Forest(NamedTuple):
    """B trees of at most M nodes each."""

    trees: np.recarray  # [B] TREE_DTYPE
    nodes: np.recarray  # [B, M] NODE_DTYPE; node 0 is the root
    root_states: np.recarray  # [B] the game's state dtype
    spare_nodes: np.recarray  # [M] scratch memory of `keep_subtree`


def new_forest(rules: Rules, num_trees: int, max_nodes: int) -> Forest:
    """Returns blank trees. The operating system allocates memory only when nodes come into use."""
    return Forest(
        trees=np.zeros(num_trees, TREE_DTYPE).view(np.recarray),
        nodes=np.empty((num_trees, max_nodes), NODE_DTYPE).view(np.recarray),
        root_states=new_states(rules, num_trees),
        spare_nodes=np.empty(max_nodes, NODE_DTYPE).view(np.recarray),
    )


@subroutine
def clear_node(node, action, prior):
    """Makes `node` an unvisited leaf, reached by `action`."""
    node.W = 0.0
    node.N = 0
    node.P = prior
    node.first_child = 0
    node.action = action
    node.num_children = 0
    node.num_visited = 0
    node.in_flight = 0
    node.proven_plies = 0
    node.proven = UNPROVEN
    node.player = 0


def children_of(nodes: np.recarray, index: int = 0) -> range:
    """Returns the places of the children of node `index`; an empty range if it is not expanded."""
    first = int(nodes[index].first_child)
    return range(first, first + int(nodes[index].num_children)) if first else range(0)


def node_of(nodes: np.ndarray, line: list[int]) -> int:
    """Returns the node that `line`, actions from the root on, leads to; -1 if it is not in the tree."""
    index, plain = 0, nodes.view(np.ndarray)  # whose fields take a tenth of the time
    firsts, counts, actions = plain["first_child"], plain["num_children"], plain["action"]
    for action in line:
        first, count = int(firsts[index]), int(counts[index])
        found = np.flatnonzero(actions[first : first + count] == action) if first else np.zeros(0, np.int64)
        if not len(found):
            return -1
        index = first + int(found[0])
    return index


@subroutine
def clear_tree(tree, nodes):
    """Removes all nodes but the root, which becomes unvisited. The random generator keeps its state."""
    clear_node(nodes[0], -1, np.float32(0.0))
    tree.num_nodes = 1
    tree.has_noise = 0
    tree.is_full = 0


@subroutine
def create_children(rules, tree, nodes, index, state, legal):
    """Creates the children of node `index`, whose position is `state`; returns whether there was room.

    The priors are uniform; an evaluator's priors replace them.

    Raises BrokenRules if the position has no legal action.
    """
    return add_children(rules, tree, nodes, index, state, legal, rules.legal_actions(state, legal))


@subroutine
def add_children(rules, tree, nodes, index, state, legal, num_children):
    """As `create_children`, for a position whose `num_children` legal actions are in `legal`."""
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
    """Returns the root's child reached by `action`, or -1 if the root has no such child."""
    root = nodes[0]
    for child in range(root.first_child, root.first_child + root.num_children):
        if nodes[child].action == action:
            return child
    return -1


@subroutine
def keep_subtree(tree, nodes, child, spare):
    """Makes node `child` the root and drops all nodes outside its subtree.

    The subtree is copied to `spare` ([M] NODE_DTYPE) breadth first, and back.
    """
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
    """Returns whether `node`, whose position is `state`, is proven but neither expanded nor the end of a game."""
    return node.proven != UNPROVEN and node.first_child == 0 and rules.outcome(state) == ONGOING


@subroutine
def play_at_root(rules, forest, b, action):
    """Plays `action` in tree b: the child becomes the root and keeps its subtree.

    A child that look-ahead has proven but that is not expanded is cleared. Otherwise a search there would end at once,
    without a move.
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
    """Starts tree b afresh, with the position `state` at its root and the random state `seed`."""
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
    """Plays `action` in tree b; keeps the subtree below it if `is_keeping`, else only the new root."""
    if is_keeping:
        play_at_root(rules, forest, b, action)
    else:
        rules.apply_action(forest.root_states[b], np.int64(action))
        clear_tree(forest.trees[b], forest.nodes[b])


@kernel
def advance_tree(rules, settings, forest, b, action):
    """Plays `action` in tree b; keeps the subtree below it if the root strategy can reuse it."""
    move_root(rules, forest, b, action, settings.root.may_keep_tree())


@subroutine
def backup(nodes, path, depth, value):
    """Adds one visit of `value`, for the first player, to every node on the path."""
    for place in range(depth + 1):
        node = nodes[path[place]]
        node.N += 1
        node.W += value
