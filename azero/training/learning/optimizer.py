"""The optimiser, and the moving average of weights."""

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
