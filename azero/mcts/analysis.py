"""What a search has found: the root's moves, ranked, with their principal variations."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from azero.games import WIN
from azero.mcts.root import rank_children
from azero.mcts.search import Search
from azero.mcts.tree import UNPROVEN, children_of

RESULT_NAMES = {1: "win", 0: "draw", -1: "loss"}


@dataclass(frozen=True)
class MoveStatistics:
    """One move of the root. Values and proofs are for the player to move there."""

    action: int
    visits: int
    value: float  # Q in [-1, 1], exact where proven; 0 where neither visited nor proven
    prior: float
    proven: str | None  # "win", "draw", "loss"
    proven_plies: int | None  # from here to the end, this move included, where they are counted
    pv: list[int]  # principal variation, from this move on


def root_value(search: Search, b: int = 0) -> float:
    """Returns the value of tree b's root in [-1, 1], for the player to move."""
    nodes = search.forest.nodes[b]
    proofs = [_proof(search, b, child) for child in children_of(nodes)]
    results = [proof[0] for proof in proofs if proof is not None]
    if nodes[0].proven == UNPROVEN and proofs and len(results) == len(proofs):
        return float(max(results))
    return _value(nodes[0], 1 - 2 * int(nodes[0].player))


def rank_moves(search: Search, b: int = 0) -> list[MoveStatistics]:
    """Returns the root's moves of tree b, best first: proven wins by length, the rest, proven losses by length.

    A length that is not known counts as the longest.
    """
    nodes = search.forest.nodes[b]
    order = np.zeros(search.game.num_actions, np.int32)
    num_children = rank_children(search.forest, b, search.settings.chosen_by, order)
    sign = 1 - 2 * int(nodes[0].player)
    return [_statistics(search, b, int(child), sign) for child in order[:num_children]]


def _statistics(search: Search, b: int, child: int, sign: int) -> MoveStatistics:
    nodes = search.forest.nodes[b]
    node = nodes[child]
    proof = _proof(search, b, child)
    return MoveStatistics(
        action=int(node.action),
        visits=int(node.N),
        value=_value(node, sign) if proof is None else float(proof[0]),
        prior=float(node.P),
        proven=None if proof is None else RESULT_NAMES[proof[0]],
        proven_plies=None if proof is None else proof[1],
        pv=_line(search, b, child),
    )


def _proof(search: Search, b: int, child: int) -> tuple[int, int | None] | None:
    """Returns what is proven of a move, by the solver or the tree, for the player to move; and its plies if counted."""
    nodes = search.forest.nodes[b]
    known = search.known_moves[b].get(int(nodes[child].action))
    if known is not None:
        return known.result, None
    if nodes[child].proven == UNPROVEN:
        return None
    return (1 - 2 * int(nodes[0].player)) * int(nodes[child].proven), int(nodes[child].proven_plies) + 1


def _line(search: Search, b: int, child: int) -> list[int]:
    """Returns a move and how play goes on: as the solver has found it where it wins, else as the tree tells."""
    nodes = search.forest.nodes[b]
    action = int(nodes[child].action)
    known = search.known_moves[b].get(action)
    if known is not None and known.result == WIN:
        return [action, *known.line]
    line = principal_variation(nodes, child)
    return [*line, *search.line_below(b, line)]


def _value(node: Any, sign: int) -> float:
    if node.proven != UNPROVEN:
        return float(sign * int(node.proven))
    return float(sign * node.W / node.N) + 0.0 if node.N else 0.0


def principal_variation(nodes: np.recarray, index: int) -> list[int]:
    """Returns the actions from node `index` on along the best children, visited or proven: by proof, else by visits."""
    line = [int(nodes[index].action)]
    while children := children_of(nodes, index):
        sign = 1 - 2 * int(nodes[index].player)
        index = max(children, key=lambda child: preference(nodes[child], sign))
        if nodes[index].N == 0 and nodes[index].proven == UNPROVEN:
            break
        line.append(int(nodes[index].action))
    return line


def preference(node: Any, sign: int) -> tuple[float, ...]:
    """Returns a key that orders the children of a node for its mover, whose `sign` is 1 (first player) or -1."""
    if node.proven == UNPROVEN:
        return 0.0, float(node.N), float(sign * node.W)
    result = sign * int(node.proven)
    length = float(node.proven_plies)
    return (1.0, -length) if result == WIN else (-1.0, length) if result == -WIN else (0.0, float(node.N), 0.0)
