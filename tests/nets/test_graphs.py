"""Tests of nets as graphs: each net of azero's has one, and its weights are folded with torch's bits."""

import numpy as np
import pytest
import torch

from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.architectures.contract import NETS, fold
from azero.nets.architectures.drawing import ARCHITECTURES
from azero.nets.checkpoint import wanted_weights, weights_of
from azero.nets.graphs.weights import Weights, fold_weights

from .towers import SMALL_OF_CONTEXT, make_net

GAME = make_game("connect_four(rows=5,columns=6)")


def test_each_net_of_azero_s_is_drawn():
    assert ARCHITECTURES.keys() == NETS.keys() and len(NETS) == 3
    for name, kind in NETS.items():
        assert kind(NetConfig(blocks=1, channels=4), GAME).drawing().architecture is ARCHITECTURES[name]


@pytest.mark.parametrize("game", ["connect_four(rows=5,columns=6)", "go(size=5)", "amazons(size=6)"])
@pytest.mark.parametrize("name", sorted(NETS))
@pytest.mark.parametrize("context", ["none", "se", "pool"])
def test_shapes_without_torch_are_those_of_the_net(name, context, game):
    """A checkpoint's weights are compared with them, so that torch is not imported."""
    game = make_game(game)
    for channels in (3, 40):
        config = NetConfig(name=name, global_context=context, blocks=2, channels=channels, value_hidden=5)
        wanted = wanted_weights(config, game)
        shapes = ARCHITECTURES[name].shapes(config, game)
        assert shapes == {name: tuple(each.shape) for name, each in wanted.items()}
        assert all(wanted[name].dtype == (torch.float32 if shape else torch.int64) for name, shape in shapes.items())


@pytest.mark.parametrize("config", SMALL_OF_CONTEXT, ids=lambda each: each.global_context)
def test_folded_weights_have_the_bits_of_torch(config):
    net = make_net(GAME, config)
    expected = {name.replace(".convolution.", "."): array for name, array in weights_of(fold(net)).items()}
    folded = fold_weights(weights_of(net)).arrays
    assert folded.keys() == expected.keys()
    for name, array in expected.items():
        assert array.dtype == folded[name].dtype and np.array_equal(array, folded[name]), name


def test_layer_norms_are_not_folded():
    net = NETS["dense"](NetConfig(blocks=2, channels=4), GAME)
    assert fold_weights(weights_of(net)).arrays.keys() == net.state_dict().keys()


def test_parts_of_weights():
    weights = Weights({"stem.bias": np.zeros(1), "blocks.0.first.bias": np.ones(2), "blocks.1.first.bias": np.ones(3)})
    assert len(weights.part("stem")["bias"]) == 1 and not weights.has("ste")
    assert [len(each.part("first")["bias"]) for each in weights.parts("blocks")] == [2, 3]
    assert list(weights.parts("stem")) == []
