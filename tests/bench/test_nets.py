"""Tests of the benchmark of nets: its rows and its derived figures."""

import numpy as np
import pytest
import torch
from torch import nn

from azero.bench import nets
from azero.bench.nets import EAGER, count_operations, describe_net, eager_work, list_paths, measure_nets, random_planes
from azero.config.reading import find_config, load_config
from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.architectures.tower.net import ResidualTower
from azero.nets.evaluator import NetEvaluator
from azero.system.machine import count_cores

pytestmark = pytest.mark.thorough

CONFIG = load_config(find_config("smoke"), ["device.device=cpu"])
GAME = make_game(CONFIG.game.name)


def test_every_path_meets_plain_torch_on_one_core_and_on_all(monkeypatch):
    def peak_measures(thread_counts):
        return {("fp32", num): lambda seconds, num=num: 1e9 * num for num in thread_counts}

    monkeypatch.setattr(nets, "peak_measures", peak_measures)
    rows = measure_nets(CONFIG, GAME, 0.05, batch_sizes=(1, 8))
    for batch_size in (1, 8):
        own = [row for row in rows if row.batch_size == batch_size]
        assert own[0].path == EAGER and all(row.ratio_to_eager <= 1.0 for row in own if row.path == EAGER)
        for path in list_paths(CONFIG.device, ResidualTower(CONFIG.net, GAME)):
            assert [row.threads for row in own if row.path == path] == sorted({1, count_cores()})
    operations = count_operations(ResidualTower(CONFIG.net, GAME).eval(), GAME.planes_shape).on_board
    for row in rows:
        assert row.evaluations_per_s > 0 and row.ratio_to_eager > 0
        has_peak = row.path.endswith("fp32")
        wanted = row.evaluations_per_s * operations / (1e9 * row.threads) if has_peak else None
        assert row.share_of_peak == pytest.approx(wanted)


def test_plain_torch_does_the_net_with_its_threads(monkeypatch):
    net, planes = ResidualTower(CONFIG.net, GAME), random_planes(5, GAME.planes_shape)
    asked = []
    monkeypatch.setattr(nets.torch, "set_num_threads", asked.append)
    work = eager_work(net, torch.device("cpu"), planes, torch.get_num_threads() + 1)
    assert work() == 5 and asked == [torch.get_num_threads() + 1]
    assert net.training, "the given net should not change"


def test_a_new_net_says_what_the_free_evaluator_says():
    """Self-play is measured on games whose openings the free evaluator played."""
    evaluator = NetEvaluator(ResidualTower(CONFIG.net, GAME), CONFIG.device)
    logits, values = evaluator.evaluate(random_planes(7, GAME.planes_shape))
    assert not np.any(logits) and not np.any(values)


def test_description():
    assert describe_net(CONFIG, GAME) == {
        "blocks": 1,
        "channels": 8,
        "parameters": 2472,
        "operations": 27672,
        "operations_on_board": 17944,
    }


# --- the number of operations, against counts by hand ---


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
