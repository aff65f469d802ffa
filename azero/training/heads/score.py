"""Score: the margin by which the mover wins.

Source:
  Wu, Accelerating self-play learning in Go, 2019, section 4.1. There the target is a distribution, here a number.
"""

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.contract import Net
from azero.nets.architectures.heads import dense_layers
from azero.nets.graphs.any_size import side_of
from azero.selfplay.data.auxiliary import Positions
from azero.training.heads.contract import Head, mean_where_known


class Score(Head):
    """Scores, [B, 1], for the player to move, in units of the board's side, sqrt(H W)."""

    name = "score"
    needs = "final_score"

    def columns(self, game: Game) -> int:
        return 1

    def targets(self, positions: Positions) -> np.ndarray:
        """Returns the score at the end, [B, 1]."""
        scores = positions.endings().scores[positions.games, None]
        return positions.signs_at_end() * scores / np.float32(side_of(positions.game))

    def layers(self, config: NetConfig, net: Net) -> nn.Module:
        # Those of `KEPT` pool in `any_size`. Older runs of it have these layers, and are resumed.
        return dense_layers(net, config.value_channels, [config.value_hidden, self.columns(net.game)])

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Returns the Huber loss of the error, in units of the board's side. It is quadratic up to one unit."""
        return mean_where_known(F.huber_loss, outputs, targets)
