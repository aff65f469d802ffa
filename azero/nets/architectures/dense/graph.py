"""The dense net as a graph."""

import math

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.drawing import ARCHITECTURES, Architecture
from azero.nets.graphs.graph import Graph, Node
from azero.nets.graphs.weights import Shapes, Weights, linear_shapes, norm_shapes


def shapes_of_dense(config: NetConfig, game: Game) -> Shapes:
    """Returns the shapes of the weights of a dense net."""
    units = config.channels
    shapes = linear_shapes("stem", math.prod(game.planes_shape), units) | norm_shapes("norm", units)
    for block in (f"blocks.{k}" for k in range(config.blocks)):
        shapes |= norm_shapes(f"{block}.norm", units) | linear_shapes(f"{block}.linear", units, units)
    return (
        shapes
        | linear_shapes("policy", units, game.num_actions)
        | linear_shapes("value_hidden", units, config.value_hidden)
        | linear_shapes("results", config.value_hidden, 3)
    )


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


ARCHITECTURES["dense"] = Architecture(shapes_of_dense, features_of_dense, judge_dense, is_flat=True)
