"""Muon: momentum whose every step is made orthogonal, for matrices; AdamW for all else.

A gradient step changes a matrix most along the few directions in which gradients are large. Muon takes the momentum's
polar factor in place of it, so that all directions move alike. A convolution [out, in, k, k] counts as the matrix
[out, in k k] that it is; torch.optim.Muon refuses such weights.

Source: Jordan et al., Muon: an optimizer for hidden layers in neural networks (2024), momentum, Nesterov and the
coefficients of the iteration; Liu et al., Muon is scalable for LLM training (2025), weight decay.
"""

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor

MOMENTUM = 0.95
WEIGHT_DECAY = 0.1  # times the rate, a step
SMALLEST_SIDE = 16  # of a matrix; a smaller one, as the last of the value head, is AdamW's
NUM_STEPS = 5
_COEFFICIENTS = 3.4445, -4.7750, 2.0315  # of x + x^3 + x^5, steepest at 0: singular values come to [0.7, 1.2]
_LEAST_NORM = 1e-7


def is_matrix(parameter: Tensor) -> bool:
    """Returns whether Muon takes a parameter."""
    return parameter.ndim > 1 and min(parameter.shape[0], parameter[0].numel()) >= SMALLEST_SIDE


def orthogonalise(matrices: Tensor) -> Tensor:
    """Returns about the polar factors of matrices, [n, rows, columns] float32, by Newton and Schulz's iteration."""
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if is_tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=_LEAST_NORM)
    a, b, c = _COEFFICIENTS
    for _ in range(NUM_STEPS):
        square = x @ x.mT
        x = a * x + (b * square + c * square @ square) @ x
    return x.mT if is_tall else x


class Muon(torch.optim.AdamW):
    """Muon for the first group, AdamW for the others.

    Args:
      matrices: the group of what `is_matrix` says yes to. Its rate goes times sqrt(max(1, rows / columns)), so that a
        step changes the outputs of tall and wide matrices alike.
      groups: of the other parameters.
      options: of AdamW.
    """

    def __init__(self, matrices: dict[str, Any], groups: list[dict[str, Any]], **options: Any):
        super().__init__([matrices, *groups], **options)

    @torch.no_grad()
    def step(self, closure=None):
        group = self.param_groups[0]
        by_shape = defaultdict(list)
        for parameter in group["params"]:
            if parameter.grad is not None:
                by_shape[parameter.shape].append(parameter)
        for shape, parameters in by_shape.items():
            self._step_matrices(shape[0], parameters, group["lr"])
        for parameter in group["params"]:
            parameter.grad = None  # AdamW passes over those without
        return super().step(closure)

    def _step_matrices(self, num_rows: int, parameters: list[torch.nn.Parameter], rate: float) -> None:
        """Steps matrices of one shape, all at once."""
        gradients = torch.stack([each.grad.reshape(num_rows, -1) for each in parameters if each.grad is not None])
        momenta = torch.stack([self._momentum(parameter) for parameter in parameters])
        momenta.lerp_(gradients, 1.0 - MOMENTUM)
        updates = orthogonalise(gradients.lerp(momenta, MOMENTUM))
        scale = max(1.0, num_rows / updates.shape[2]) ** 0.5
        for parameter, momentum, update in zip(parameters, momenta, updates, strict=True):
            self.state[parameter]["momentum"].copy_(momentum)
            parameter.mul_(1.0 - rate * WEIGHT_DECAY)
            parameter.add_(update.reshape(parameter.shape), alpha=-rate * scale)

    def _momentum(self, parameter: Tensor) -> Tensor:
        """Returns a matrix's momentum, [rows, columns]; 0 before its first step."""
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros(())  # which AdamW looks for where a state is loaded
            state["momentum"] = torch.zeros(parameter.shape[0], parameter[0].numel(), device=parameter.device)
        return state["momentum"]
