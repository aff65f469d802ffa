"""The heads that a net keeps (`architectures/heads.py`) as a graph."""

from azero.games import Game
from azero.nets.graphs.any_size import pooled_channels, side_of
from azero.nets.graphs.graph import Graph, Node
from azero.nets.graphs.weights import Weights


def heads_of_tower(graph: Graph, x: Node, weights: Weights, game: Game) -> dict[str, Node]:
    """Draws the kept heads; returns their answers for the player to move: `ownership` [B, H, W], `score` [B, 1].

    Args:
      x: a tower's features, [B, C, H, W].
    """
    return _heads(graph, x, weights, game, is_pooled=False)


def heads_of_any_size(graph: Graph, x: Node, weights: Weights, game: Game) -> dict[str, Node]:
    """Returns the same for a tower for all sizes."""
    return _heads(graph, x, weights, game, is_pooled=True)


def heads_of_dense(graph: Graph, x: Node, weights: Weights, game: Game) -> dict[str, Node]:
    """Returns the same for a dense net's features, [B, C]."""
    return _heads(graph, graph.on_board(x), weights, game, is_pooled=False)


def _heads(graph: Graph, x: Node, weights: Weights, game: Game, is_pooled: bool) -> dict[str, Node]:
    answers = {}
    kept = weights.part("kept")
    if kept.has("ownership"):
        logits = graph.convolution(_channels(graph, x, kept.part("ownership")), kept.part("ownership.2"))
        answers["ownership"] = graph.cells(graph.signed(logits))
    if kept.has("score"):
        channels = _channels(graph, x, kept.part("score"))
        summary = pooled_channels(graph, channels, game) if is_pooled else graph.flat(channels)
        hidden = graph.relu(graph.linear(summary, kept.part("score.3")))
        answers["score"] = graph.scaled(graph.linear(hidden, kept.part("score.5")), side_of(game))
    return answers


def _channels(graph: Graph, x: Node, weights: Weights) -> Node:
    """Draws the convolution with which a head begins."""
    return graph.relu(graph.convolution(x, weights.part("0")))
