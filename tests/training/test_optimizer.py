"""Tests of learning rates by hand, of weight decay, and of the moving average."""

import pytest
import torch
from torch import nn

from azero.config.schema import TrainingConfig
from azero.games import make_game
from azero.nets.architectures.tower.net import ResidualTower
from azero.training.learning.optimizer import learning_rate, make_optimizer, update_average

from .runs import tiny_config

BASE = {"learning_rate": 0.1, "final_learning_rate": 0.02, "warmup_steps": 0}
TENTHS = {"learning_rate": 1.0, "final_learning_rate": 0.0, "warmup_steps": 0, "schedule": "step"}
RATES = [  # settings, step, progress, rate
    *((BASE | {"schedule": "constant"}, 1000, progress, 0.1) for progress in (0.0, 1.0)),
    *(
        (BASE | {"schedule": "cosine"}, 1000, progress, rate)
        for progress, rate in [(0.0, 0.1), (1 / 3, 0.08), (0.5, 0.06), (1.0, 0.02)]  # cos(pi / 3) = 1/2
    ),
    *(
        (BASE | {"schedule": "step"}, 1000, progress, rate)
        for progress, rate in [(0.49, 0.1), (0.5, 0.02), (1.0, 0.02)]  # a tenth would be below the minimum
    ),
    *(
        (TENTHS, 0, progress, rate)
        for progress, rate in [(0.49, 1.0), (0.5, 0.1), (0.75, 0.01), (0.9, 0.001), (1.0, 0.001)]
    ),
    *(
        (BASE | {"warmup_steps": 10, "schedule": "constant"}, step, 0.3, rate)
        for step, rate in [(0, 0.01), (4, 0.05), (9, 0.1), (10, 0.1), (500, 0.1)]
    ),
    (BASE | {"final_learning_rate": 0.5, "schedule": "cosine"}, 0, 1.0, 0.1),  # a final rate does not raise the highest
]


@pytest.mark.parametrize(("settings", "step", "progress", "rate"), RATES)
def test_rates_by_hand(settings, step, progress, rate):
    assert learning_rate(TrainingConfig(**settings), step, progress) == pytest.approx(rate)


@pytest.mark.parametrize(("name", "kind"), [("adamw", torch.optim.AdamW), ("sgd", torch.optim.SGD)])
def test_weights_decay_and_biases_and_norms_do_not(name, kind):
    net = ResidualTower(tiny_config().net, make_game("tic_tac_toe"))
    optimizer = make_optimizer(net, TrainingConfig(optimizer=name, weight_decay=0.03))
    assert type(optimizer) is kind
    decaying, others = optimizer.param_groups
    assert (decaying["weight_decay"], others["weight_decay"]) == (0.03, 0.0)
    names = {id(parameter): name for name, parameter in net.named_parameters()}
    assert {names[id(p)] for p in others["params"]} == {
        name for name in names.values() if name.endswith("bias") or ".norm." in name
    }
    assert len(decaying["params"]) + len(others["params"]) == len(names)
    for group in optimizer.param_groups:
        assert (
            group["betas"] == (0.9, 0.999) if name == "adamw" else (group["momentum"], group["nesterov"]) == (0.9, True)
        )


@pytest.mark.parametrize(
    ("decay", "step", "average"),
    [(0.9, 1000, 0.9 * 1 + 0.1 * 3), (0.9, 1, (2 * 1 + 9 * 3) / 11), (0.0, 1000, 3.0)],
)
def test_the_average_moves_by_its_decay_and_faster_early_on(decay, step, average):
    one, other = nn.BatchNorm1d(1), nn.BatchNorm1d(1)
    for module, value in ((one, 1.0), (other, 3.0)):
        for tensor in (module.weight, module.running_mean):
            nn.init.constant_(tensor, value)
    other.num_batches_tracked += 7
    update_average(one, other, decay, step)
    assert one.weight.item() == one.running_mean.item() == pytest.approx(average)
    assert one.num_batches_tracked.item() == 7 and other.weight.item() == 3
