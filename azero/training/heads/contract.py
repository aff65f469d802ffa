"""The interface of an auxiliary head: a target, layers and a loss.

A head's input is the net's features, so that a net can be saved and used without it. What layers are built from is in
`azero/nets/architectures/heads.py`.
"""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.contract import Net
from azero.selfplay.data.auxiliary import AuxiliaryTarget


class Head(AuxiliaryTarget):
    """An auxiliary head.

    Its name is part of its setting `training.NAME_loss_weight`, of its metric `train/NAME_loss`, and of its tensors in
    a run's state: `heads.NAME...`, or `net.kept.NAME...` if the net keeps it.
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


def mean_where_known(loss: Callable[..., Tensor], outputs: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean of a loss over the targets that are not NaN; zero if all are."""
    is_known = targets.isfinite()
    losses = loss(outputs, torch.where(is_known, targets, 0.0), reduction="none")
    return (losses * is_known).sum() / is_known.sum().clamp(min=1)
