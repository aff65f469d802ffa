"""Plies left until the end of the game.

Source:
  Leela Chess Zero, lczero-training, `moves_left_loss`: a Huber loss, in units of 20 plies.
"""

from functools import partial

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.contract import Net
from azero.nets.architectures.heads import dense_layers
from azero.selfplay.data.auxiliary import Positions
from azero.training.heads.contract import Head, mean_where_known

_PLIES = 20.0
"""The unit of the loss, chosen to make it about as large as other losses. It is quadratic up to half a unit."""


class PliesLeft(Head):
    """Plies, [B, 1]: 1 before the last ply."""

    name = "plies_left"

    def columns(self, game: Game) -> int:
        return 1

    def targets(self, positions: Positions) -> np.ndarray:
        """Returns the plies until the end of the game, [B, 1]; NaN if it was resigned."""
        is_resigned = positions.shard.resigned[positions.games]
        return np.where(is_resigned, np.nan, positions.ends - positions.indices)[:, None].astype(np.float32)

    def layers(self, config: NetConfig, net: Net) -> nn.Module:
        return dense_layers(net, config.value_channels, [config.value_hidden, self.columns(net.game)])

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Returns the Huber loss of the error, in units of 20 plies."""
        return mean_where_known(partial(F.huber_loss, delta=0.5), outputs, targets / _PLIES)
