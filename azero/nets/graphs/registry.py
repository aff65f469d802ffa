"""The graphs of azero's nets, by the names of `architectures/registry.py`."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from azero.games import Game
from azero.nets.graphs.any_size import draw_any_size
from azero.nets.graphs.dense import draw_dense
from azero.nets.graphs.graph import Graph, Node
from azero.nets.graphs.tower import draw_tower
from azero.nets.graphs.weights import Weights, fold_weights

Draw = Callable[[Graph, Node, Weights, Game], tuple[Node, Node]]
"""Returns policy logits [B, A] and result logits [B, 3] of planes [B, C, H, W]. The weights are folded."""

DRAWN: dict[str, Draw] = {"tower": draw_tower, "any_size": draw_any_size, "dense": draw_dense}

ANY_SIZE = ("any_size",)
"""The nets whose weights fit boards of all sizes."""


class Drawing(NamedTuple):
    """A net with its weights, to be drawn as a graph of any library."""

    draw: Draw
    weights: Weights  # folded
    game: Game

    def on(self, graph: Graph) -> Any:
        """Draws the net on an empty graph; returns the finished model."""
        return graph.finished(*self.draw(graph, graph.planes(self.game.planes_shape), self.weights, self.game))


def drawing_of(architecture: str, weights: Mapping[str, np.ndarray], game: Game) -> Drawing | None:
    """Returns the drawing of a net of azero's, with the weights of a checkpoint; None for a user's net."""
    draw = DRAWN.get(architecture)
    return draw and Drawing(draw, fold_weights(weights), game)
