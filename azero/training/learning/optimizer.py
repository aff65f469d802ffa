"""The optimiser, and the moving average of weights."""

import copy

import torch
from torch import nn

from azero.config.training import TrainingConfig
from azero.training.learning.muon import Muon, is_matrix


def make_optimizer(net: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Returns the optimiser that the settings name. Weight decay applies to weights, not to biases and normalisations.

    The learning rate of a group is the settings' times its `rate_factor`.
    """
    rate, momentum = config.learning_rate, config.momentum
    matrices = [p for p in net.parameters() if config.optimizer == "muon" and is_matrix(p)]
    taken = set(map(id, matrices))
    weights = [p for p in net.parameters() if p.ndim > 1 and id(p) not in taken]
    others = [p for p in net.parameters() if p.ndim <= 1]
    groups = [
        {"params": weights, "weight_decay": config.weight_decay, "rate_factor": 1.0},
        {"params": others, "weight_decay": 0.0, "rate_factor": 1.0},
    ]
    if config.optimizer == "muon":
        factor = config.muon_learning_rate / rate
        return Muon({"params": matrices, "rate_factor": factor}, groups, lr=rate, betas=(momentum, 0.999), fused=True)
    if config.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=rate, momentum=momentum, nesterov=momentum > 0, fused=True)
    return torch.optim.AdamW(groups, lr=rate, betas=(momentum, 0.999), fused=True)


@torch.no_grad()
def update_average(average: nn.Module, net: nn.Module, decay: float, step: int) -> None:
    """Moves the average towards the net's weights and running statistics: a <- d a + (1 - d) w.

    d is at most (1 + step) / (10 + step), so that the first random weights are soon forgotten.
    """
    decay = min(decay, (1 + step) / (10 + step))
    torch._foreach_lerp_([*average.parameters()], [*net.parameters()], 1.0 - decay)
    for a, w in zip(average.buffers(), net.buffers(), strict=True):
        if a.is_floating_point():
            a.lerp_(w, 1.0 - decay)
        else:
            a.copy_(w)


Shapes = dict[tuple[int, str], tuple[torch.Size, torch.dtype]]
"""Shape and dtype of an optimiser's tensors, by the number of their parameter and their name."""


def check_state(
    state: dict[int, dict], net: nn.Module, optimizer: torch.optim.Optimizer, config: TrainingConfig, steps: int
) -> None:
    """Raises ValueError if an optimiser's saved state is not that of `net` after `steps` steps.

    A fused optimiser would read and write beyond the ends of smaller tensors. The momentum of SGD may be switched on
    and off in a run.
    """
    found, wanted = _shapes_of(state), _shapes_after_a_step(net, config) if steps else {}
    if config.optimizer == "sgd":
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        wanted = {(k, "momentum_buffer"): (each.shape, each.dtype) for k, each in enumerate(parameters)}
        found = wanted | found
    if found != wanted:
        raise ValueError("the optimiser's tensors are others")


def _shapes_after_a_step(net: nn.Module, config: TrainingConfig) -> Shapes:
    twin = copy.deepcopy(net)
    optimizer = make_optimizer(twin, config)
    for parameter in twin.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    return _shapes_of(optimizer.state_dict()["state"])


def _shapes_of(state: dict[int, dict]) -> Shapes:
    named = [((index, name), each) for index, own in state.items() for name, each in own.items()]
    return {key: (each.shape, each.dtype) for key, each in named if each is not None}
