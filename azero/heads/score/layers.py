"""The head's layers and loss."""

from typing import TYPE_CHECKING

from torch import Tensor, nn
from torch.nn import functional as F

from azero.heads.contract import HEADS
from azero.heads.losses import mean_where_known

if TYPE_CHECKING:
    from azero.config.schema import NetConfig
    from azero.games import Game
    from azero.nets.architectures.heads import HeadBuilder


def layers(build: "HeadBuilder", config: "NetConfig", is_kept: bool) -> nn.Module:
    """Returns layers whose output is the score in units of the board's side, [B, 1]."""
    return build.number(config.value_channels, config.value_hidden, fits_all_sizes=is_kept)


def answers(outputs: Tensor, game: "Game") -> Tensor:
    """Returns points, [B, 1]."""
    return outputs * HEADS["score"].unit(game)


def loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Returns the Huber loss of the error, in units of the board's side. It is quadratic up to one unit."""
    return mean_where_known(F.huber_loss, outputs, targets)
