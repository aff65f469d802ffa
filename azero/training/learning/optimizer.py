"""The optimisers, the learning rate, and the moving average of weights.

Muon is momentum whose every step is made orthogonal, for matrices; AdamW has all else. A gradient step changes a matrix
most along the few directions in which gradients are large. Muon steps by the polar factor of the momentum instead, so
that all directions change equally. A convolution [out, in, k, k] counts as the matrix [out, in k k]. torch.optim.Muon
refuses such weights.

Source: Jordan et al., Muon: an optimizer for hidden layers in neural networks (2024), momentum, Nesterov and the
coefficients of the iteration; Liu et al., Muon is scalable for LLM training (2025), weight decay.
"""

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

from azero.config.schema import TrainingConfig
from azero.errors import BadInput

BETAS = 0.9, 0.999  # of AdamW; the first is the momentum of SGD
MOMENTUM = 0.95  # of Muon
WEIGHT_DECAY = 0.1  # times the rate, a step
SMALLEST_SIDE = 16  # of a matrix; a smaller one, as the last of the value head, is AdamW's
NUM_STEPS = 5
_COEFFICIENTS = 3.4445, -4.7750, 2.0315  # of x + x^3 + x^5, steepest at 0: singular values come to [0.7, 1.2]
_LEAST_NORM = 1e-7


def is_matrix(parameter: Tensor) -> bool:
    """Returns whether Muon takes a parameter."""
    return parameter.ndim > 1 and min(parameter.shape[0], parameter[0].numel()) >= SMALLEST_SIDE


def orthogonalise(matrices: Tensor) -> Tensor:
    """Returns approximately the polar factors of matrices, [n, rows, columns] float32, by Newton-Schulz iteration.

    The iteration is x <- (a I + b S + c S^2) x with S = x x^T. Each factor is a polynomial in S, so all factors
    commute. Their product is computed from S alone, which is smaller than x, and multiplies x once.
    """
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if is_tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=_LEAST_NORM)
    identity = torch.eye(x.shape[1], device=x.device).expand(len(x), -1, -1)
    square = x @ x.mT
    product = factor = _factor(square, identity)
    for _ in range(NUM_STEPS - 1):
        square = factor @ square @ factor
        factor = _factor(square, identity)
        product = product @ factor
    x = product @ x
    return x.mT if is_tall else x


def _factor(square: Tensor, identity: Tensor) -> Tensor:
    """Returns a I + b S + c S^2."""
    a, b, c = _COEFFICIENTS
    return torch.baddbmm(square, square, square, beta=b, alpha=c).add_(identity, alpha=a)


class Muon(torch.optim.AdamW):
    """Muon for the first group, AdamW for the others.

    Args:
      matrices: the group of the parameters for which `is_matrix` is true. Its rate is multiplied by
        sqrt(max(1, rows / columns)), so that a step changes the outputs of tall and wide matrices equally.
      groups: of the other parameters.
      options: of AdamW.

    Attributes:
      map: steps the halves of the matrices of a shape; it may do them side by side.
    """

    def __init__(self, matrices: dict[str, Any], groups: list[dict[str, Any]], **options: Any):
        super().__init__([matrices, *groups], **options)
        self.map: Callable[..., Iterable[None]] = map

    @torch.no_grad()
    def step(self, closure=None):
        group = self.param_groups[0]
        by_shape = defaultdict(list)
        for parameter in group["params"]:
            if parameter.grad is not None:
                by_shape[parameter.shape].append(parameter)
        halves = [half for each in by_shape.values() for half in _halves(each)]
        for each in halves:
            for parameter in each:
                self._momentum(parameter)  # in the order in which states are kept
        list(self.map(self._step_matrices, halves, [group["lr"]] * len(halves)))
        for parameter in group["params"]:
            parameter.grad = None  # AdamW passes over those without
        return super().step(closure)

    @torch.no_grad()
    def _step_matrices(self, parameters: list[Tensor], rate: float) -> None:
        """Steps matrices of one shape, all at once."""
        num_rows = len(parameters[0])
        gradients = [each.grad.reshape(num_rows, -1) for each in parameters if each.grad is not None]
        momenta = [self._momentum(parameter) for parameter in parameters]
        torch._foreach_lerp_(momenta, gradients, 1.0 - MOMENTUM)
        updates = orthogonalise(torch.stack(gradients).lerp_(torch.stack(momenta), MOMENTUM))
        scale = max(1.0, num_rows / updates.shape[2]) ** 0.5
        torch._foreach_mul_(parameters, 1.0 - rate * WEIGHT_DECAY)
        torch._foreach_add_(parameters, list(updates.view(-1, *parameters[0].shape)), alpha=-rate * scale)

    def _momentum(self, parameter: Tensor) -> Tensor:
        """Returns a matrix's momentum, [rows, columns]; 0 before its first step."""
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())  # which AdamW looks for where a state is loaded
            state["momentum"] = torch.zeros(parameter.shape[0], parameter[0].numel(), device=parameter.device)
        return state["momentum"]


def _halves(matrices: list[Tensor]) -> list[list[Tensor]]:
    """Returns the halves of several matrices, which two threads can step."""
    middle = (len(matrices) + 1) // 2
    return [each for each in (matrices[:middle], matrices[middle:]) if each]


def make_optimizer(net: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Returns the optimiser that the settings name. Weight decay applies to weights, not to biases and normalisations.

    The learning rate of a group is the settings' times its `rate_factor`.
    """
    rate = config.learning_rate
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
        return Muon({"params": matrices, "rate_factor": factor}, groups, lr=rate, betas=BETAS, fused=True)
    if config.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=rate, momentum=BETAS[0], nesterov=True, fused=True)
    return torch.optim.AdamW(groups, lr=rate, betas=BETAS, fused=True)


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


def check_state(state: dict[int, dict], net: nn.Module, config: TrainingConfig, steps: int) -> None:
    """Raises ValueError if an optimiser's saved state is not that of `net` after `steps` steps.

    A fused optimiser would read and write beyond the ends of smaller tensors.
    """
    if _shapes_of(state) != (_shapes_after_a_step(net, config) if steps else {}):
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
