"""What a search has found: the root's moves, ranked, with their principal variations; and the tree as arrays."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.games import WIN
from azero.games.contract import sign_of
from azero.mcts.roots.ranking import rank_children
from azero.mcts.search.tree_search import TreeSearch
from azero.mcts.tree import UNPROVEN, Forest, children_of

RESULT_NAMES: dict[int | None, str] = {1: "win", 0: "draw", -1: "loss"}


class MoveStatistics(NamedTuple):
    """One move of the root. Values and proofs are for the player to move there."""

    actions: list[int]  # one action, or all actions of a whole turn
    visits: int
    value: float  # Q in [-1, 1], exact if proven; 0 if neither visited nor proven
    prior: float
    proven: str | None  # "win", "draw", "loss"
    proven_plies: int | None  # plies to the end, including this move, if known
    pv: list[int]  # actions of the principal variation, beginning with this move
    is_bound: bool = False  # whether `value` is only an upper bound: alpha-beta has refuted the move

    @property
    def action(self) -> int:
        """The first action of the move."""
        return self.actions[0]


def root_result(search: TreeSearch, b: int = 0) -> int | None:
    """Returns the proven result of tree b's root, for the player to move: 1, 0 or -1; None without a proof."""
    nodes, known = search.forest.nodes[b], search.known_moves[b]
    root, sign = nodes[0], sign_of(int(nodes[0].player))
    if root.proven != UNPROVEN:
        return sign * int(root.proven)
    order = np.array(children_of(nodes), np.int32)
    if len(order) and (known or (nodes.proven[order] != UNPROVEN).all()):
        results = [proof for _, proof, _ in _proofs(search, b, order)]
        if None not in results:
            return max(result for result in results if result is not None)
    return None


def root_value(search: TreeSearch, b: int = 0) -> float:
    """Returns the value of tree b's root in [-1, 1], for the player to move."""
    result, root = root_result(search, b), search.forest.nodes[b][0]
    if result is not None:
        return float(result)
    return float(sign_of(int(root.player)) * root.W / root.N) + 0.0 if root.N else 0.0


def rank_moves(search: TreeSearch, b: int = 0) -> list[MoveStatistics]:
    """Returns the root's moves of tree b, best first: wins, the shortest first, the rest, losses, the longest first.

    An unknown length counts as the longest.
    """
    nodes = search.forest.nodes[b]
    order = np.zeros(nodes[0].num_children, np.int32)
    rank_children(search.forest, b, search.settings.chosen_by, order)
    sign = sign_of(int(nodes[0].player))
    children = nodes[order]
    found = zip(
        *(children[name].tolist() for name in ("N", "W", "P")),
        _lines(search, b, order),
        _proofs(search, b, order),
        strict=True,
    )
    ranked = []
    for N, W, P, line, (move, proof, plies) in found:
        actions = search.actions_of(b, move)
        if proof is not None:
            ranked.append(MoveStatistics(actions, N, float(proof), P, RESULT_NAMES[proof], plies, line))
        else:
            ranked.append(MoveStatistics(actions, N, sign * W / N + 0.0 if N else 0.0, P, None, None, line))
    return ranked


def _proofs(search: TreeSearch, b: int, order: np.ndarray) -> Iterator[tuple[int, int | None, int | None]]:
    """Yields each of the root's actions, its result if the solver or the tree has proven one, and its plies if known.

    Results are for the player to move. `order` ([n] int32) lists the nodes that the actions lead to.
    """
    nodes, known = search.forest.nodes[b], search.known_moves[b]
    sign = sign_of(int(nodes[0].player))
    children = nodes[order]
    for action, proven, plies in zip(
        *(children[name].tolist() for name in ("action", "proven", "proven_plies")), strict=True
    ):
        if action in known:
            yield action, known[action].result, None
        elif proven == UNPROVEN:
            yield action, None, None
        else:
            yield action, sign * proven, plies + len(search.actions_of(b, action))


def _lines(search: TreeSearch, b: int, order: np.ndarray) -> Iterator[list[int]]:
    """Yields the principal variation of each root move: the solver's if the solver found a win, else the tree's."""
    known = search.known_moves[b]
    for move, *below in principal_variations(search.forest.nodes[b], order, search.game.max_plies):
        line = [*search.actions_of(b, move), *below]
        if line[0] in known and known[line[0]].result == WIN:
            yield [line[0], *known[line[0]].line]
        else:
            yield line + search.line_below(b, line)


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
