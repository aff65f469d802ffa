"""Losses of targets that are not all known."""

from collections.abc import Callable

import torch
from torch import Tensor


def mean_where_known(loss: Callable[..., Tensor], outputs: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean of a loss over the targets that are not NaN; zero if all are."""
    is_known = targets.isfinite()
    losses = loss(outputs, torch.where(is_known, targets, 0.0), reduction="none")
    return (losses * is_known).sum() / is_known.sum().clamp(min=1)
