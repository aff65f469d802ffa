"""The dense net as a graph."""

from azero.games import Game
from azero.nets.architectures.drawing import ARCHITECTURES, Architecture
from azero.nets.graphs.graph import Graph, Node
from azero.nets.graphs.weights import Weights


def features_of_dense(graph: Graph, planes: Node, weights: Weights) -> Node:
    """Returns the net's features, [B, channels]."""
    x = graph.relu(graph.linear(graph.flat(planes), weights.part("stem")))
    for block in weights.parts("blocks"):
        y = graph.linear(graph.layer_norm(x, block.part("norm")), block.part("linear"))
        x = graph.add(x, graph.relu(y))
    return graph.relu(graph.layer_norm(x, weights.part("norm")))


def judge_dense(graph: Graph, x: Node, weights: Weights, game: Game) -> tuple[Node, Node]:
    """Returns policy logits and result logits of features."""
    hidden = graph.relu(graph.linear(x, weights.part("value_hidden")))
    return graph.linear(x, weights.part("policy")), graph.linear(hidden, weights.part("results"))


ARCHITECTURES["dense"] = Architecture(features_of_dense, judge_dense, is_flat=True)
