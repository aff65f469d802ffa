"""The head without torch. Its targets are owners in the positions' symmetries: 1 the mover, -1 the opponent, 0 nobody.

The answers are 2 P(the mover will own the cell) - 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from azero.heads.contract import Head, head

if TYPE_CHECKING:
    import numpy as np

    from azero.games import Game
    from azero.nets.graphs.graph import Graph, Node
    from azero.nets.graphs.weights import Weights
    from azero.selfplay.data.positions import Positions


@head
class Ownership(Head):
    """Owners, [B, H * W]."""

    name = "ownership"
    setting = (
        "the owner of each cell at the end; 0: no such head. The loss is the mean over cells. Only for games that "
        "define owners (Go, Othello). Paper: none; KataGo: 1.5."
    )
    needs = "ownership"
    meaning = "the expected owner of each cell at the end: 1 the player to move, -1 the opponent"
    legend = "expected owners: + the player to move, - the opponent, . unclear"
    decimals = 3

    def targets(self, positions: Positions) -> np.ndarray:
        """Returns the owner of each cell at the end, [B, H * W]."""
        cells = positions.game.training_symmetries.cells[positions.symmetries]
        return positions.signs_at_end() * positions.endings().owners[positions.games[:, None], cells]

    def draw(self, graph: Graph, x: Node, weights: Weights, game: Game, summary: Callable[[Node], Node]) -> Node:
        """Draws the answers, [B, H, W]."""
        channels = graph.relu(graph.convolution(x, weights.part("0")))
        return graph.cells(graph.signed(graph.convolution(channels, weights.part("2"))))
