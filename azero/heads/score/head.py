"""The head without torch. Its targets are scores for the player to move, in units of the board's side, sqrt(H W).

The answers are points.
"""

from __future__ import annotations

import math
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
class Score(Head):
    """Scores, [B, 1]."""

    name = "score"
    setting = (
        "the score at the end; 0: no such head. The loss is Huber's, with the score in units of the board's side. Only "
        "for games that have a score (Go, Othello, P-games). Paper: none."
    )
    needs = "final_score"
    meaning = "the points by which the player to move is expected to win"

    def unit(self, game: Game) -> float:
        """Returns the board's side."""
        return math.sqrt(math.prod(game.planes_shape[1:]))

    def targets(self, positions: Positions) -> np.ndarray:
        """Returns the score at the end, [B, 1]."""
        scores = positions.endings().scores[positions.games, None]
        return positions.signs_at_end() * scores / scores.dtype.type(self.unit(positions.game))

    def draw(self, graph: Graph, x: Node, weights: Weights, game: Game, summary: Callable[[Node], Node]) -> Node:
        """Draws the answers, [B, 1]."""
        channels = summary(graph.relu(graph.convolution(x, weights.part("0"))))
        hidden = graph.relu(graph.linear(channels, weights.part("3")))
        return graph.scaled(graph.linear(hidden, weights.part("5")), self.unit(game))
