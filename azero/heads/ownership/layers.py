"""The head's layers and loss."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.heads.losses import mean_where_known

if TYPE_CHECKING:
    from azero.config.schema import NetConfig
    from azero.games import Game
    from azero.nets.architectures.heads import HeadBuilder


def layers(build: "HeadBuilder", config: "NetConfig", is_kept: bool) -> nn.Module:
    """Returns layers whose outputs are the logits of owning the cells, [B, H * W]."""
    return build.cells(config.value_channels)


def answers(outputs: Tensor, game: "Game") -> Tensor:
    """Returns 2 P(the mover will own the cell) - 1, [B, H, W]."""
    return (2 * torch.sigmoid(outputs) - 1).unflatten(1, game.planes_shape[1:])


def loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean cross-entropy over cells of the probability to own a cell, (1 + owner) / 2."""
    return mean_where_known(F.binary_cross_entropy_with_logits, outputs, (1 + targets) / 2)
