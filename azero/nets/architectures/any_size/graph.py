"""The tower for all sizes as a graph."""

import math
from typing import Any

import numpy as np

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.drawing import ARCHITECTURES, Architecture
from azero.nets.architectures.tower.graph import features_of_tower, shapes_of_blocks
from azero.nets.graphs.graph import Graph, Node
from azero.nets.graphs.weights import Shapes, Weights, convolution_shapes, linear_shapes


def shapes_of_any_size(config: NetConfig, game: Game) -> Shapes:
    """Returns the shapes of the weights of a tower for all sizes."""
    channels, policy, value, places = config.channels, config.policy_channels, config.value_channels, game.places
    shapes = shapes_of_blocks(config, game)
    for name, outputs in (("policy_features", policy), ("policy_context", policy), ("value_features", value)):
        shapes |= convolution_shapes(name, channels, outputs, 1)
    shapes |= {"policy.weight": (places.planes, policy, 1, 1), "policy.bias": (places.planes,)}
    if places.slots:
        shapes |= linear_shapes("slots", 3 * policy, places.slots)
    return (
        shapes
        | linear_shapes("policy_bias", 3 * policy, policy)
        | linear_shapes("value_hidden", 3 * value, config.value_hidden)
        | linear_shapes("results", config.value_hidden, 3)
    )


def judge_any_size(graph: Graph, x: Node, weights: Weights, game: Game) -> tuple[Node, Node]:
    """Returns policy logits and result logits of a tower's features."""
    context = pooled_channels(graph, graph.relu(graph.convolution(x, weights.part("policy_context"))), game)
    bias = graph.on_board(graph.linear(context, weights.part("policy_bias")))
    policy = graph.relu(graph.add(graph.convolution(x, weights.part("policy_features")), bias))
    logits = graph.flat(graph.convolution(policy, weights.part("policy")))
    if weights.has("slots"):
        logits = graph.join([logits, graph.linear(context, weights.part("slots"))])
    numbers = numbers_to_take(game)
    if numbers is not None:
        logits = graph.take(logits, numbers)
    value = pooled_channels(graph, graph.relu(graph.convolution(x, weights.part("value_features"))), game)
    hidden = graph.relu(graph.linear(value, weights.part("value_hidden")))
    return logits, graph.linear(hidden, weights.part("results"))


def numbers_to_take(game: Game) -> np.ndarray | None:
    """Returns the places of the game's actions, [A] int64; None if each place in turn is an action."""
    places, (_, height, width) = game.places, game.planes_shape
    num_places = places.planes * height * width + places.slots
    return None if np.array_equal(places.numbers, np.arange(num_places)) else places.numbers.astype(np.int64)


def size_factor(side: Any) -> Any:
    """Returns the factor by which the second mean of pooling is scaled, for the board's side, a number or a tensor."""
    return (side - 14) / 10


def pooled_channels(graph: Graph, x: Node, game: Game) -> Node:
    """Draws `pooled` of a whole board."""
    side = math.sqrt(math.prod(game.planes_shape[1:]))
    mean = graph.mean_of_board(x)
    return graph.join([mean, graph.scaled(mean, size_factor(side)), graph.peak_of_board(x)])


ARCHITECTURES["any_size"] = Architecture(
    shapes_of_any_size, features_of_tower, judge_any_size, pooled_channels, is_any_size=True, is_quantizable=True
)
