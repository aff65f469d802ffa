"""The result of a search: the root's moves, ranked, with their principal variations."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from azero.games import WIN
from azero.games.contract import sign_of
from azero.mcts.roots.choice import rank_children
from azero.mcts.search.search import TreeSearch
from azero.mcts.search.variation import principal_variations
from azero.mcts.tree import UNPROVEN, children_of

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
