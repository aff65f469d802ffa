"""The residual tower as a graph."""

import math

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.drawing import ARCHITECTURES, Architecture
from azero.nets.graphs.graph import Graph, Node
from azero.nets.graphs.weights import (
    Shapes,
    Weights,
    convolution_shapes,
    linear_shapes,
    num_pooled,
    units_of_excitation,
)


def shapes_of_blocks(config: NetConfig, game: Game) -> Shapes:
    """Returns the shapes of the weights of stem and blocks."""
    channels, context = config.channels, config.global_context
    shapes = convolution_shapes("stem", game.planes_shape[0], channels, 3)
    for block in (f"blocks.{k}" for k in range(config.blocks)):
        pooled = num_pooled(channels) if context == "pool" else 0
        shapes |= convolution_shapes(f"{block}.first", channels, channels, 3)
        shapes |= convolution_shapes(f"{block}.second", channels - pooled, channels, 3)
        if context == "pool":
            shapes |= linear_shapes(f"{block}.pooling.bias", 2 * pooled, channels - pooled)
        if context == "se":
            hidden = units_of_excitation(channels)
            shapes |= linear_shapes(f"{block}.excitation.squeeze", channels, hidden)
            shapes |= linear_shapes(f"{block}.excitation.excite", hidden, channels)
    return shapes


def shapes_of_tower(config: NetConfig, game: Game) -> Shapes:
    """Returns the shapes of the weights of a tower."""
    cells = math.prod(game.planes_shape[1:])
    return (
        shapes_of_blocks(config, game)
        | convolution_shapes("policy_features", config.channels, config.policy_channels, 1)
        | linear_shapes("policy", config.policy_channels * cells, game.num_actions)
        | convolution_shapes("value_features", config.channels, config.value_channels, 1)
        | linear_shapes("value_hidden", config.value_channels * cells, config.value_hidden)
        | linear_shapes("results", config.value_hidden, 3)
    )


def features_of_tower(graph: Graph, planes: Node, weights: Weights) -> Node:
    """Returns the output of stem and blocks. The blocks' convolutions may be quantized.

    Skip connections, global context and input keep their precision: they cost little time, and errors there matter
    more.
    """
    x = graph.relu(graph.convolution(planes, weights.part("stem")))
    for block in weights.parts("blocks"):
        y = graph.convolution(x, block.part("first"), is_quantized=True)
        y = graph.relu(_pooling_bias(graph, y, block.part("pooling")) if block.has("pooling") else y)
        y = graph.convolution(y, block.part("second"), is_quantized=True)
        x = graph.relu(graph.add(x, _excitation(graph, y, block.part("excitation")) if block.has("excitation") else y))
    return x


def judge_tower(graph: Graph, x: Node, weights: Weights, game: Game) -> tuple[Node, Node]:
    """Returns policy logits and result logits of a tower's features."""
    policy = graph.flat(graph.relu(graph.convolution(x, weights.part("policy_features"))))
    value = graph.flat(graph.relu(graph.convolution(x, weights.part("value_features"))))
    hidden = graph.relu(graph.linear(value, weights.part("value_hidden")))
    return graph.linear(policy, weights.part("policy")), graph.linear(hidden, weights.part("results"))


def _excitation(graph: Graph, x: Node, weights: Weights) -> Node:
    """Draws `SqueezeExcitation`."""
    hidden = graph.relu(graph.linear(graph.mean_of_board(x), weights.part("squeeze")))
    excited = graph.on_board(graph.linear(hidden, weights.part("excite")))
    return graph.multiply(graph.sigmoid(excited), x)


def _pooling_bias(graph: Graph, x: Node, weights: Weights) -> Node:
    """Draws `GlobalPoolingBias`."""
    kept, twice_pooled = weights.part("bias")["weight"].shape
    pooled, others = graph.split(x, [twice_pooled // 2, kept])
    pooled = graph.relu(pooled)
    summary = graph.join([graph.mean_of_board(pooled), graph.peak_of_board(pooled)])
    return graph.add(others, graph.on_board(graph.linear(summary, weights.part("bias"))))


ARCHITECTURES["tower"] = Architecture(shapes_of_tower, features_of_tower, judge_tower, is_quantizable=True)
