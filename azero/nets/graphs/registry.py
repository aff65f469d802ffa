"""The graphs of azero's nets, by the names of `architectures/registry.py`."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from azero.games import Game
from azero.nets.graphs.any_size import judge_any_size
from azero.nets.graphs.dense import features_of_dense, judge_dense
from azero.nets.graphs.graph import Graph, Node
from azero.nets.graphs.heads import heads_of_any_size, heads_of_dense, heads_of_tower
from azero.nets.graphs.tower import features_of_tower, judge_tower
from azero.nets.graphs.weights import Weights, fold_weights


class Architecture(NamedTuple):
    """How a net of azero's is drawn. The weights are folded.

    Attributes:
      features: draws the features of planes [B, C, H, W].
      judge: draws policy logits [B, A] and result logits [B, 3] of features.
      heads: draws the answers of the kept heads, by name, given features.
    """

    features: Callable[[Graph, Node, Weights], Node]
    judge: Callable[[Graph, Node, Weights, Game], tuple[Node, Node]]
    heads: Callable[[Graph, Node, Weights, Game], dict[str, Node]]


DRAWN = {
    "tower": Architecture(features_of_tower, judge_tower, heads_of_tower),
    "any_size": Architecture(features_of_tower, judge_any_size, heads_of_any_size),
    "dense": Architecture(features_of_dense, judge_dense, heads_of_dense),
}

ANY_SIZE = ("any_size",)
"""The nets whose weights fit boards of all sizes."""


class Drawing(NamedTuple):
    """A net with its weights, to be drawn as a graph of any library."""

    architecture: Architecture
    weights: Weights  # folded
    game: Game

    def on(self, graph: Graph, has_heads: bool = False) -> Any:
        """Draws the net on an empty graph, with the heads that it keeps or without; returns the finished model."""
        x = self._features(graph)
        policy_logits, result_logits = self.architecture.judge(graph, x, self.weights, self.game)
        outputs = {"policy_logits": policy_logits, "result_logits": result_logits}
        return graph.finished(outputs | (self._heads(graph, x) if has_heads else {}))

    def heads_on(self, graph: Graph) -> Any:
        """Draws the heads alone; returns the finished model."""
        return graph.finished(self._heads(graph, self._features(graph)))

    def _features(self, graph: Graph) -> Node:
        return self.architecture.features(graph, graph.planes(self.game.planes_shape), self.weights)

    def _heads(self, graph: Graph, x: Node) -> dict[str, Node]:
        return self.architecture.heads(graph, x, self.weights, self.game)


def drawing_of(architecture: str, weights: Mapping[str, np.ndarray], game: Game) -> Drawing | None:
    """Returns the drawing of a net of azero's, with the weights of a checkpoint; None for a user's net."""
    drawn = DRAWN.get(architecture)
    return drawn and Drawing(drawn, fold_weights(weights), game)
