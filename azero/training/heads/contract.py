"""The interface of an auxiliary head (a target, layers and a loss), and what heads are built from.

A head's input is the tower's features, so that a net can be saved and used without it.
"""

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from azero.config.schema import NetConfig
from azero.errors import BadInput
from azero.games import Game
from azero.nets.architectures.blocks import NormalizedConvolution
from azero.nets.architectures.contract import Net, start_at_zero
from azero.selfplay.data.auxiliary import AuxiliaryTarget


class Head(AuxiliaryTarget):
    """An auxiliary head.

    Its name is part of its setting `training.NAME_loss_weight`, of its metric `train/NAME_loss`, and of its tensors
    `heads.NAME...` in a run's state.
    """

    needs: str | None = None
    """The optional method that the game must define for this head; without it, the head is an error."""

    @abstractmethod
    def columns(self, game: Game) -> int:
        """Returns the number of targets per position."""

    @abstractmethod
    def layers(self, config: NetConfig, net: Net) -> nn.Module:
        """Returns new layers from the net's features [B, C, H, W] to outputs [B, columns], which begin as zeros."""

    @abstractmethod
    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Returns the mean loss, without its weight, of outputs [B, columns] float32.

        Rows of unknown targets, which are NaN, do not count. A head without unknown targets may ignore this.
        """

    def lesson_targets(self, game: Game, results: np.ndarray) -> np.ndarray:
        """Returns the targets of lessons, [B, columns], by their results [B]. By default they are unknown: NaN."""
        return np.full((len(results), self.columns(game)), np.nan, np.float32)


def dense_layers(net: Net, channels: int, sizes: list[int]) -> nn.Sequential:
    """Returns a 1x1 convolution to `channels`, followed by linear layers with outputs of `sizes`."""
    inputs, height, width = _features_of(net)
    *hidden, last = (nn.Linear(*pair) for pair in pairwise([channels * height * width, *sizes]))
    start_at_zero(last)
    between = (layer for each in hidden for layer in (each, nn.ReLU()))
    return nn.Sequential(NormalizedConvolution(inputs, channels, 1), nn.ReLU(), nn.Flatten(), *between, last)


def cell_layers(net: Net, channels: int) -> nn.Sequential:
    """Returns 1x1 convolutions, to `channels` and to one output per cell, [B, H * W]."""
    inputs, *board = _features_of(net)
    if board != [*net.game.planes_shape[1:]]:
        raise BadInput("ownership needs a net with features for each cell, e.g. net.name = tower")
    last = nn.Conv2d(channels, 1, 1)
    start_at_zero(last)
    return nn.Sequential(NormalizedConvolution(inputs, channels, 1), nn.ReLU(), last, nn.Flatten())


def _features_of(net: Net) -> tuple[int, int, int]:
    """Returns the shape of a net's features; raises BadInput if it has none."""
    if net.features_shape is None:
        raise BadInput(
            "auxiliary heads learn from a net's features, and this net has none: it needs the methods `features` and "
            "`judge`, or training.*_loss_weight = 0"
        )
    return net.features_shape


def mean_where_known(loss: Callable[..., Tensor], outputs: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean of a loss over the targets that are not NaN; zero if all are."""
    is_known = targets.isfinite()
    losses = loss(outputs, torch.where(is_known, targets, 0.0), reduction="none")
    return (losses * is_known).sum() / is_known.sum().clamp(min=1)
