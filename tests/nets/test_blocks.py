"""Tests of global context in blocks: the formulas, cell by cell, and that it reaches every cell."""

import numpy as np
import pytest
import torch

from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.architectures.blocks import GlobalPoolingBias, SqueezeExcitation
from azero.nets.architectures.tower.net import ResidualTower

X = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 8, 5, 4)).astype(np.float32))


@pytest.fixture(autouse=True)
def one_seed():
    torch.manual_seed(0)


def linear(layer, x):
    return layer.weight.detach().numpy() @ x + layer.bias.detach().numpy()


def test_squeeze_and_excitation_by_hand():
    layer = SqueezeExcitation(8)
    found = layer(X).detach().numpy()
    for x, y in zip(X.numpy(), found, strict=True):
        excited = linear(layer.excite, np.maximum(linear(layer.squeeze, x.mean((1, 2))), 0))
        for channel in range(8):
            expected = x[channel] / (1 + np.exp(-excited[channel]))
            np.testing.assert_allclose(y[channel], expected, rtol=1e-5, atol=1e-6)


def test_global_pooling_bias_by_hand():
    layer = GlobalPoolingBias(8)
    found = layer(X).detach().numpy()
    assert found.shape == (3, 6, 5, 4)
    for x, y in zip(X.numpy(), found, strict=True):
        pooled = np.maximum(x[:2], 0)
        bias = linear(layer.bias, np.concatenate([pooled.mean((1, 2)), pooled.max((1, 2))]))
        np.testing.assert_allclose(y, x[2:] + bias[:, None, None], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("context", ["none", "se", "pool"])
def test_one_block_sees_the_whole_board_where_it_is_to(context):
    game = make_game("go(size=9)")
    net = ResidualTower(NetConfig(blocks=1, channels=8, global_context=context), game).eval()
    planes = torch.rand(game.planes_shape).expand(2, -1, -1, -1).clone()
    planes[1, 0, 0, 0] += 5  # three convolutions reach three cells further, to row and column 3
    before, after = net.features(planes).detach()
    reached = (after - before).abs().amax(0) > 1e-7
    assert reached[:4, :4].any() and reached[4:, 4:].any() == (context != "none")
