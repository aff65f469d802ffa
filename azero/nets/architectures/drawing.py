"""Nets of azero as graphs of operations, which each library translates into its own. Nothing here imports torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from azero.config.schema import NetConfig
from azero.games import Game
from azero.heads import HEADS
from azero.nets.graphs.graph import Graph, Node
from azero.nets.graphs.weights import Shapes, Weights, fold_weights


class Architecture(NamedTuple):
    """How a net of azero's is drawn. The weights are folded.

    Attributes:
      shapes: returns the weights' shapes by name, of a net that keeps no heads; see `graphs/weights.py`.
      features: draws the features of planes [B, C, H, W].
      judge: draws policy logits [B, A] and result logits [B, 3] of features.
      summary: draws what the linear layers of kept heads see of [B, C, H, W], as `Net.summary`.
      is_flat: whether features are [B, C], instead of [B, C, H, W].
      is_any_size: whether the weights fit boards of all sizes.
      is_quantizable: whether int8 is possible: some convolutions are drawn with `is_quantized`.
    """

    shapes: Callable[[NetConfig, Game], Shapes]
    features: Callable[[Graph, Node, Weights], Node]
    judge: Callable[[Graph, Node, Weights, Game], tuple[Node, Node]]
    summary: Callable[[Graph, Node, Game], Node] = lambda graph, x, game: graph.flat(x)
    is_flat: bool = False
    is_any_size: bool = False
    is_quantizable: bool = False


ARCHITECTURES: dict[str, Architecture] = {}
"""The architectures by their names, which are those of their folders."""


@dataclass
class Drawing:
    """A net with its weights, to be drawn as a graph of any library.

    Attributes:
      weights: the net's weights, folded.
      peaks: of the activations that int8 quantizes in OpenVINO; None until they are measured.
    """

    architecture: Architecture
    weights: Weights
    game: Game
    peaks: list[float] | None = None

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
        """Draws the kept heads; returns their answers by name."""
        kept = self.weights.part("kept")
        x = graph.on_board(x) if self.architecture.is_flat else x

        def summary(y: Node) -> Node:
            return self.architecture.summary(graph, y, self.game)

        found = {name: head for name, head in HEADS.items() if kept.has(name)}
        return {name: head.draw(graph, x, kept.part(name), self.game, summary) for name, head in found.items()}


def drawing_of(architecture: str, weights: Mapping[str, np.ndarray], game: Game) -> Drawing | None:
    """Returns the drawing of a net of azero's, with the weights of a checkpoint; None for a user's net."""
    drawn = ARCHITECTURES.get(architecture)
    return drawn and Drawing(drawn, fold_weights(weights), game)


def int8_is_for() -> str:
    """Returns what to say of a net that has no int8."""
    return f"precision 'int8' is for net.name = {' or '.join(k for k, v in ARCHITECTURES.items() if v.is_quantizable)}"


def is_any_size(name: object) -> bool:
    """Returns whether the weights of a net of this name fit boards of all sizes."""
    return name in ARCHITECTURES and ARCHITECTURES[str(name)].is_any_size
