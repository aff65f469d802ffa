"""The learning rate's schedule."""

import math

import torch

from azero.config.training import TrainingConfig
from azero.errors import BadInput

_MOST_STEPS = 2_000_000  # of an iteration


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Sets the learning rate of each group to `rate` times the group's `rate_factor`."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["rate_factor"]


def steps_for(config: TrainingConfig, positions: int) -> int:
    """Returns the training steps of an iteration with this number of new positions; raises BadInput if far too many."""
    steps = max(1, round(positions * config.samples_per_position / config.batch_size))
    if steps > _MOST_STEPS:
        raise BadInput(f"{positions:,} positions need {steps:,} training steps; at most {_MOST_STEPS:,} are possible")
    return steps


def learning_rate(config: TrainingConfig, step: int, progress: float) -> float:
    """Returns the learning rate of a step.

    Args:
      step: number of steps taken so far in the run.
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
