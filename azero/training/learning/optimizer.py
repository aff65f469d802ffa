"""How a step is taken: optimiser, learning rate, and the moving average of weights."""

import math

import torch
from torch import nn

from azero.config.training import TrainingConfig


def make_optimizer(net: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Returns the optimiser of the settings; weights decay, biases and normalisations do not."""
    weights = [p for p in net.parameters() if p.ndim > 1]
    others = [p for p in net.parameters() if p.ndim <= 1]
    groups = [{"params": weights, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}]
    rate, momentum = config.learning_rate, config.momentum
    if config.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=rate, momentum=momentum, nesterov=momentum > 0, fused=True)
    return torch.optim.AdamW(groups, lr=rate, betas=(momentum, 0.999), fused=True)


def learning_rate(config: TrainingConfig, step: int, progress: float) -> float:
    """Returns the learning rate of a step.

    Args:
      step: steps taken so far in the run.
      progress: share of the run that is over, in [0, 1].
    """
    high, low = config.learning_rate, min(config.final_learning_rate, config.learning_rate)
    if config.schedule == "cosine":
        rate = low + (high - low) * (1.0 + math.cos(math.pi * progress)) / 2.0
    elif config.schedule == "step":
        rate = max(low, high * 0.1 ** sum(progress >= drop for drop in (0.5, 0.75, 0.9)))
    else:
        rate = high
    return rate * min(1.0, (step + 1) / config.warmup_steps) if config.warmup_steps else rate


@torch.no_grad()
def update_average(average: nn.Module, net: nn.Module, decay: float, step: int) -> None:
    """Moves the average towards the net's weights and running statistics: a <- d a + (1 - d) w.

    Early on d is less, (1 + step) / (10 + step), so that the first random weights are soon forgotten.
    """
    decay = min(decay, (1 + step) / (10 + step))
    torch._foreach_lerp_([*average.parameters()], [*net.parameters()], 1.0 - decay)
    for a, w in zip(average.buffers(), net.buffers(), strict=True):
        if a.is_floating_point():
            a.lerp_(w, 1.0 - decay)
        else:
            a.copy_(w)
