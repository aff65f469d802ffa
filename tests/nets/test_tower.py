"""Tests of the tower and its blocks: shapes, folding, learning, and global context by hand."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.architectures.blocks import GlobalPoolingBias, SqueezeExcitation
from azero.nets.architectures.contract import Prediction, fold
from azero.nets.architectures.tower.net import ResidualTower

from .towers import SMALL_OF_CONTEXT, make_net, random_planes

GAME = make_game("connect_four(rows=5,columns=6)")


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "connect_four(rows=4,columns=8)"])
@pytest.mark.parametrize(
    "config", [*SMALL_OF_CONTEXT, NetConfig(blocks=1, channels=4, value_hidden=1), NetConfig(blocks=3)]
)
def test_shapes(name, config):
    game = make_game(name)
    net = ResidualTower(config, game)
    prediction = net(torch.from_numpy(random_planes(game, 3)))
    assert prediction.policy_logits.shape == (3, game.num_actions)
    assert prediction.result_logits.shape == (3, 3) and prediction.value().shape == (3,)
    assert len(net.blocks) == config.blocks
    assert net.stem.convolution.weight.shape == (config.channels, 3, 3, 3)


def test_value_is_the_chance_of_winning_less_that_of_losing():
    results = torch.tensor([[0.6, 0.3, 0.1], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).log()
    torch.testing.assert_close(Prediction(torch.zeros(4, 1), results).value(), torch.tensor([0.5, 0.0, 1.0, -1.0]))


@pytest.mark.parametrize("config", SMALL_OF_CONTEXT, ids=lambda each: each.global_context)
def test_a_folded_net_says_what_the_net_says(config):
    net = make_net(GAME, config)
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    folded = fold(net)
    planes = torch.from_numpy(random_planes(GAME, 40, seed=9))
    for found, expected in zip(folded(planes), net.eval()(planes), strict=True):
        assert expected.std() > 0.1, "constant answers would prove nothing"
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in folded.modules())
    assert not any(parameter.requires_grad for parameter in folded.parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items()), "the net changed"


def test_a_net_can_learn_a_batch_by_heart():
    torch.manual_seed(1)
    planes = torch.from_numpy(random_planes(GAME, 200)).unique(dim=0)[:32]
    moves, results = torch.randint(GAME.num_actions, (32,)), torch.randint(3, (32,))
    net = ResidualTower(NetConfig(blocks=2, channels=32), GAME)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(60):
        prediction = net(planes)
        loss = F.cross_entropy(prediction.policy_logits, moves) + F.cross_entropy(prediction.result_logits, results)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05
    prediction = net(planes)
    assert torch.equal(prediction.policy_logits.argmax(1), moves)
    assert torch.equal(prediction.result_logits.argmax(1), results)
    torch.testing.assert_close(prediction.value(), 1.0 - results, atol=0.1, rtol=0)


# --- global context in blocks: the formulas, cell by cell, and that it reaches every cell ---


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
