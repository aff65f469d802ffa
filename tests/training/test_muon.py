"""Tests of Muon: orthogonal steps for matrices against a singular value decomposition, and AdamW for the rest."""

import copy

import pytest
import torch

from azero.config.schema import TrainingConfig
from azero.games import make_game
from azero.nets.architectures.tower.net import ResidualTower
from azero.training.learning.optimizer import (
    MOMENTUM,
    WEIGHT_DECAY,
    Muon,
    is_matrix,
    make_optimizer,
    orthogonalise,
)

from .runs import tiny_config

RATE = 0.02


@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 48, 432), (2, 40, 17), (1, 16, 700)])
def test_singular_values_come_near_to_one_and_singular_vectors_stay(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    u, _, v = torch.linalg.svd(matrices, full_matrices=False)
    made = orthogonalise(matrices)
    values = torch.linalg.svdvals(made)
    assert values.min() > 0.5 and values.max() < 1.3
    cosine = (made * (u @ v)).sum((1, 2)) / made.norm(dim=(1, 2)) / (u @ v).norm(dim=(1, 2))
    assert cosine.min() > 0.97


def test_a_gradient_of_zero_is_no_step():
    assert not orthogonalise(torch.zeros(2, 16, 20)).any()


def test_matrices_are_weights_of_two_long_sides():
    net = ResidualTower(tiny_config(net={"channels": 16, "value_hidden": 20}).net, make_game("connect_four"))
    names = {name for name, parameter in net.named_parameters() if is_matrix(parameter)}
    assert {"stem.convolution.weight", "value_hidden.weight"} <= names
    assert "results.weight" not in names, "it has only three rows"
    assert not any("bias" in name or "norm" in name for name in names)


def test_a_step_is_momentum_made_orthogonal_and_decay():
    """Two steps of a tall matrix, computed by the formulas."""
    weight = torch.nn.Parameter(torch.randn(40, 16, generator=torch.Generator().manual_seed(2)))
    optimizer = Muon({"params": [weight]}, [], lr=RATE)
    expected, momentum = weight.detach().clone(), torch.zeros(40, 16)
    for seed in (3, 4):
        gradient = torch.randn(40, 16, generator=torch.Generator().manual_seed(seed))
        momentum = MOMENTUM * momentum + (1 - MOMENTUM) * gradient
        nesterov = (1 - MOMENTUM) * gradient + MOMENTUM * momentum
        expected = expected * (1 - RATE * WEIGHT_DECAY) - RATE * (40 / 16) ** 0.5 * orthogonalise(nesterov[None])[0]
        weight.grad = gradient.clone()
        optimizer.step()
    torch.testing.assert_close(weight.detach(), expected)


def test_the_rest_is_stepped_as_by_adamw_alone():
    config = tiny_config(net={"channels": 16}).net
    net = ResidualTower(config, make_game("tic_tac_toe"))
    twin = copy.deepcopy(net)
    settings = {"learning_rate": 0.01, "weight_decay": 0.03}
    optimizers = [make_optimizer(each, TrainingConfig(optimizer=name, **settings)) for each, name in
                  ((net, "muon"), (twin, "adamw"))]  # fmt: skip
    for step in range(3):
        for each, optimizer in zip((net, twin), optimizers, strict=True):
            torch.manual_seed(step)
            for parameter in each.parameters():
                parameter.grad = torch.randn_like(parameter)
            optimizer.step()
    for (name, ours), theirs in zip(net.named_parameters(), twin.parameters(), strict=True):
        assert torch.equal(ours, theirs) != is_matrix(ours), name
