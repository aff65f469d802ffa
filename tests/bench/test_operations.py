"""Tests of the number of operations, against counts by hand."""

import pytest
import torch
from torch import nn

from azero.bench.operations import count_operations
from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.architectures.tower.net import ResidualTower


def test_a_net_of_connect_four():
    """6 x 7 cells, 3 planes. Of the 9 x 42 taps of a 3x3 filter, (3 * 6 - 2)(3 * 7 - 2) = 16 * 19 are on the board."""
    net = ResidualTower(NetConfig(), make_game("connect_four"))  # 5 x 64, heads of 8 and 8, 64 hidden
    filters = 3 * 64 + 10 * 64 * 64
    heads = 64 * (8 + 8) * 42 + 8 * 42 * 7 + 8 * 42 * 64 + 64 * 3
    counted = count_operations(net.eval(), (3, 6, 7))
    assert counted.all_taps == 2 * (filters * 9 * 42 + heads) == 31_245_024
    assert counted.on_board == 2 * (filters * 16 * 19 + heads) == 25_154_528


@pytest.mark.parametrize(
    ("layer", "all_taps", "on_board"),
    [
        (nn.Conv2d(2, 5, 1), 10 * 12, 10 * 12),
        (nn.Conv2d(2, 5, 3), 10 * 2 * 9, 10 * 2 * 9),  # 3 x 4 board: two places, no padding
        (nn.Conv2d(2, 5, 3, padding=1), 10 * 12 * 9, 10 * 7 * 10),
        (nn.Conv2d(2, 6, 3, padding=1, groups=2), 6 * 12 * 9, 6 * 7 * 10),
        (nn.Conv2d(2, 5, (1, 3), padding=(0, 1)), 10 * 12 * 3, 10 * 3 * 10),
        (nn.Conv2d(2, 5, 3, padding=1, stride=2), 10 * 4 * 9, 10 * 4 * 5),  # rows 0 and 2, columns 0 and 2
        (nn.Conv2d(2, 5, 3, padding=2, dilation=2), 10 * 12 * 9, 10 * 5 * 8),
    ],
)
def test_a_convolution(layer, all_taps, on_board):
    assert count_operations(layer, (2, 3, 4)) == (2 * all_taps, 2 * on_board)


def test_a_layer_used_twice_counts_twice_and_no_hook_stays():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            return self.linear(self.linear(x.flatten(1)))

    net = Twice()
    assert count_operations(net, (1, 2, 2)) == (64, 64) == count_operations(net, (1, 2, 2))
    assert not net.linear._forward_hooks


def test_a_net_that_fails_keeps_no_hooks():
    net = nn.Linear(5, 1)
    with pytest.raises(RuntimeError):
        count_operations(net, (1, 2, 2))
    assert not net._forward_hooks
    assert net(torch.zeros(1, 5)).shape == (1, 1)
