"""The heads that a net keeps (`architectures/heads.py`) as a graph."""

import math

from azero.games import Game
from azero.nets.graphs.any_size import pooled_channels
from azero.nets.graphs.graph import Graph, Node
from azero.nets.graphs.weights import Weights


def tell_heads(graph: Graph, x: Node, weights: Weights, game: Game) -> dict[str, Node]:
    """Returns what the kept heads say, for the player to move: `ownership` [B, H, W], and `score` [B, 1] in points.

    Args:
      x: a tower's features, [B, C, H, W].
    """
    return _tell(graph, x, weights, game, is_pooled=False)


def tell_pooled_heads(graph: Graph, x: Node, weights: Weights, game: Game) -> dict[str, Node]:
    """Returns the same for a tower for all sizes."""
    return _tell(graph, x, weights, game, is_pooled=True)


def tell_dense_heads(graph: Graph, x: Node, weights: Weights, game: Game) -> dict[str, Node]:
    """Returns the same for a dense net's features, [B, C]."""
    return _tell(graph, graph.on_board(x), weights, game, is_pooled=False)


def _tell(graph: Graph, x: Node, weights: Weights, game: Game, is_pooled: bool) -> dict[str, Node]:
    told = {}
    kept = weights.part("kept")
    if kept.has("ownership"):
        logits = graph.convolution(_channels(graph, x, kept.part("ownership")), kept.part("ownership.2"))
        told["ownership"] = graph.cells(graph.signed(logits))
    if kept.has("score"):
        channels = _channels(graph, x, kept.part("score"))
        summary = pooled_channels(graph, channels, game) if is_pooled else graph.flat(channels)
        hidden = graph.relu(graph.linear(summary, kept.part("score.3")))
        side = math.sqrt(math.prod(game.planes_shape[1:]))
        told["score"] = graph.scaled(graph.linear(hidden, kept.part("score.5")), side)
    return told


def _channels(graph: Graph, x: Node, weights: Weights) -> Node:
    """Draws the convolution with which a head begins."""
    return graph.relu(graph.convolution(x, weights.part("0")))
