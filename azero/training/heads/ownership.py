"""Ownership: who owns each cell at the end of the game.

Source:
  Wu, Accelerating self-play learning in Go, 2019, section 4.1.
"""

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.contract import Net
from azero.nets.architectures.heads import KEPT
from azero.selfplay.data.auxiliary import Positions
from azero.training.heads.contract import Head, mean_where_known


class Ownership(Head):
    """Owners, [B, H * W], in the positions' symmetries: 1 the mover, -1 the opponent, 0 nobody."""

    name = "ownership"
    needs = "ownership"

    def columns(self, game: Game) -> int:
        _, height, width = game.planes_shape
        return height * width

    def targets(self, positions: Positions) -> np.ndarray:
        """Returns the owner of each cell at the end, [B, H * W]."""
        cells = positions.game.symmetries.cells[positions.symmetries]
        return positions.signs_at_end() * positions.endings().owners[positions.games[:, None], cells]

    def layers(self, config: NetConfig, net: Net) -> nn.Module:
        return KEPT[self.name].layers(net, config)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Returns the mean cross-entropy over cells of the probability to own a cell, (1 + owner) / 2."""
        return mean_where_known(F.binary_cross_entropy_with_logits, outputs, (1 + targets) / 2)
