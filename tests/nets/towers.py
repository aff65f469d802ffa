"""Small nets for tests, with answers that vary, and random positions."""

import functools
import random

import numpy as np
import torch

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.contract import Net
from azero.nets.architectures.heads import all_outputs
from azero.nets.make import make_net as make_any_net

SMALL = NetConfig(blocks=2, channels=8, policy_channels=3, value_channels=2, value_hidden=8)
WITH_HEADS = SMALL.model_copy(update={"heads": ("ownership", "score")})
ANY_SIZE = SMALL.model_copy(update={"name": "any_size"})
SMALL_OF_CONTEXT = [SMALL.model_copy(update={"global_context": each}) for each in ("none", "se", "pool")]


def make_net(game: Game, config: NetConfig = SMALL, seed: int = 0) -> Net:
    """Returns a net whose answers vary: its last layers are random, and its norms have statistics of some batches."""
    torch.manual_seed(seed)
    net = make_any_net(config, game)
    for layer in (net.policy, getattr(net, "slots", None) or net.policy, net.value_hidden, net.results):
        torch.nn.init.normal_(layer.weight, std=0.7)
        torch.nn.init.normal_(layer.bias, std=0.7)
    for layers in net.kept.values():
        torch.nn.init.normal_(layers[-1 if isinstance(layers[-1], torch.nn.Linear) else -2].weight, std=0.7)
    net.train()
    for _ in range(5):
        all_outputs(net, torch.rand(16, *game.planes_shape).round())
    return net


@functools.cache
def random_planes(game: Game, count: int, seed: int = 0) -> np.ndarray:
    """Returns the planes of positions of random games, [count, C, H, W] float32; always the same array."""
    chooser, planes = random.Random(seed), []
    while len(planes) < count:
        state = game.new_initial_state()
        for _ in range(chooser.randrange(game.max_plies)):
            if not state.is_terminal():
                state.apply_action(chooser.choice(state.legal_actions()))
        planes.append(state.planes())
    return np.stack(planes)
