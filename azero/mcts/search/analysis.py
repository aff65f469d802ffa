"""What a search has found: the root's moves, ranked, with their principal variations."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from azero.games import WIN
from azero.games.contract import sign_of
from azero.mcts.roots.choice import rank_children
from azero.mcts.search.search import Search
from azero.mcts.search.variation import principal_variations
from azero.mcts.tree import UNPROVEN, children_of

RESULT_NAMES = {1: "win", 0: "draw", -1: "loss"}


class MoveStatistics(NamedTuple):
    """One move of the root. Values and proofs are for the player to move there."""

    actions: list[int]  # one, or all of a whole turn
    visits: int
    value: float  # Q in [-1, 1], exact where proven; 0 where neither visited nor proven
    prior: float
    proven: str | None  # "win", "draw", "loss"
    proven_plies: int | None  # from here to the end, this move included, where they are counted
    pv: list[int]  # principal variation in actions, from this move on
    is_bound: bool = False  # whether the move may be worth less than its value: alpha-beta has refuted it

    @property
    def action(self) -> int:
        """The first action of the move."""
        return self.actions[0]


def root_value(search: Search, b: int = 0) -> float:
    """Returns the value of tree b's root in [-1, 1], for the player to move."""
    nodes, known = search.forest.nodes[b], search.known_moves[b]
    root, sign = nodes[0], sign_of(int(nodes[0].player))
    if root.proven != UNPROVEN:
        return float(sign * int(root.proven))
    order = np.array(children_of(nodes), np.int32)
    if len(order) and (known or (nodes.proven[order] != UNPROVEN).all()):
        results = [proof for _, proof, _ in _proofs(search, b, order)]
        if None not in results:
            return float(max(result for result in results if result is not None))
    return float(sign * root.W / root.N) + 0.0 if root.N else 0.0


def rank_moves(search: Search, b: int = 0) -> list[MoveStatistics]:
    """Returns the root's moves of tree b, best first: proven wins by length, the rest, proven losses by length.

    A length that is not known counts as the longest.
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


def _proofs(search: Search, b: int, order: np.ndarray) -> Iterator[tuple[int, int | None, int | None]]:
    """Yields the root's actions, what the solver or the tree has proven of each, and its plies if they are counted.

    Results are for the player to move. `order` ([n] int32) is of the nodes that the actions lead to.
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


def _lines(search: Search, b: int, order: np.ndarray) -> Iterator[list[int]]:
    """Yields each root move and how play goes on: as the solver has found it where it wins, else as the tree does."""
    known = search.known_moves[b]
    for move, *below in principal_variations(search.forest.nodes[b], order, search.game.max_plies):
        line = [*search.actions_of(b, move), *below]
        if line[0] in known and known[line[0]].result == WIN:
            yield [line[0], *known[line[0]].line]
        else:
            yield line + search.line_below(b, line)
