"""Trees for tests: snapshots that can be compared, walks over all nodes, and invariants of every node."""

from collections.abc import Iterator

import numpy as np

from azero.games import State, make_game
from azero.mcts import TreeSearch
from azero.mcts.tree import UNPROVEN, Forest, children_of, new_forest, start_tree

STATISTICS = (
    "action",
    "N",
    "W",
    "P",
    "proven",
    "proven_plies",
    "num_visited",
    "num_children",
    "in_flight",
    "player",
)


def snapshot(search: TreeSearch, b: int = 0, index: int = 0) -> tuple:
    """Returns the statistics of node `index` of tree b and all nodes below it, without their places in memory."""
    nodes = search.forest.nodes[b]
    own = tuple(nodes[index][name].item() for name in STATISTICS)
    return own, [snapshot(search, b, child) for child in children_of(nodes, index)]


def child_of(search: TreeSearch, action: int, b: int = 0) -> np.record:
    """Returns the root's child by `action`."""
    nodes = search.forest.nodes[b]
    return next(nodes[child] for child in children_of(nodes) if nodes[child].action == action)


def walk(search: TreeSearch, state: State, b: int = 0) -> Iterator[tuple[int, State]]:
    """Yields the index of every node of tree b, with its position. `state` is the root's position."""
    nodes = search.forest.nodes[b]
    waiting = [(0, state)]
    while waiting:
        index, position = waiting.pop()
        yield index, position
        for child in children_of(nodes, index):
            after = position.clone()
            after.apply_action(int(nodes[child].action))
            waiting.append((child, after))


def check_tree(search: TreeSearch, state: State, b: int = 0) -> None:
    """Asserts the invariants of every node of a tree after its searches. `state` is the root's position."""
    nodes, tree = search.forest.nodes[b], search.forest.trees[b]
    count = 0
    for index, position in walk(search, state, b):
        node, children = nodes[index], [nodes[child] for child in children_of(nodes, index)]
        count += 1
        assert node.in_flight == 0 and node.N >= 0 and abs(node.W) <= node.N
        assert node.proven in (-1, 0, 1, UNPROVEN)
        if children:
            assert sorted(child.action for child in children) == position.legal_actions()
            assert node.player == position.current_player()
            assert abs(sum(float(child.P) for child in children) - 1) < 1e-5
            assert sum(child.N for child in children) <= node.N
        if position.is_terminal() and node.proven != UNPROVEN:
            assert (node.proven, node.proven_plies) == (position.returns()[0], 0)
        assert not position.is_terminal() or not children
    assert count == tree.num_nodes <= len(nodes)
    assert tree.pending == 0


def make_tree(*children: dict, player: int = 0, seed: int = 0, value: float = 0.0) -> Forest:
    """Returns a forest of one tree with these children of the root, which was evaluated as `value`.

    Args:
      children: each with N, Q and `proven` (for the player to move), `plies` and P. Child k has action 6 - k.
    """
    game = make_game("connect_four")
    forest = new_forest(game.rules, 1, 16)
    start_tree(forest, 0, game.new_initial_state().record, np.uint64(seed))
    nodes = forest.nodes[0]
    nodes[:] = nodes[0]
    sign = 1 - 2 * player
    nodes[0].first_child, nodes[0].num_children, nodes[0].player = 1, len(children), player
    for k, given in enumerate(children):
        node = nodes[1 + k]
        node.action, node.N, node.P = 6 - k, given.get("N", 0), given.get("P", 0.1)
        node.W = sign * given.get("Q", 0.0) * node.N
        node.proven = sign * given["proven"] if "proven" in given else UNPROVEN
        node.proven_plies = given.get("plies", 0)
    nodes[0].N = 1 + sum(nodes[1 + k].N for k in range(len(children)))
    nodes[0].W = sign * value + sum(nodes[1 + k].W for k in range(len(children)))
    return forest
