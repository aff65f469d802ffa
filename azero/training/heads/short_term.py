"""Short-term values: means of the search's values in the next plies. They are less noisy than the game's result.

Source:
  KataGo, docs/KataGoMethods.md, "Short-term value and score targets"; cpp/dataio/trainingwrite.cpp,
  `fillValueTDTargets`, which includes q(t), too.
"""

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.contract import Net
from azero.nets.architectures.heads import dense_layers
from azero.selfplay.data.auxiliary import Positions
from azero.selfplay.data.returns import write_returns
from azero.training.heads.contract import Head

_SHARES_OF_CELLS = (0.016, 0.056, 0.176)
"""A horizon is 1 + share * cells plies, as in KataGo."""


class ShortTerm(Head):
    """Values in [-1, 1], [B, K], one per horizon."""

    name = "short_term"

    def columns(self, game: Game) -> int:
        return len(_SHARES_OF_CELLS)

    def horizons(self, game: Game) -> list[float]:
        """Returns the horizons in plies, [K], each above 1."""
        _, height, width = game.planes_shape
        return [1 + share * height * width for share in _SHARES_OF_CELLS]

    def targets(self, positions: Positions) -> np.ndarray:
        """Returns the exponentially weighted mean of later values, [B, K], for the player to move, for each horizon h.

        The weight of a ply is 1 / h of what the plies before it leave. The result z gets the rest:

            v(t) = q(t+1) / h + (1 - 1 / h) v(t+1),  v(last) = z
        """
        game, shard, indices = positions.game, positions.shard, positions.indices
        values = shard.players, shard.root_values, shard.outcomes
        means = np.empty((len(indices), self.columns(game)), np.float32)
        for column, horizon in enumerate(self.horizons(game)):
            write_returns(*values, indices, positions.ends, 1 / horizon, False, means[:, column])
        return means

    def lesson_targets(self, game: Game, results: np.ndarray) -> np.ndarray:
        """Returns the results, [B, K]: under best play all later values equal the result."""
        return np.repeat(results.astype(np.float32)[:, None], self.columns(game), axis=1)

    def layers(self, config: NetConfig, net: Net) -> nn.Module:
        return dense_layers(net, config.value_channels, [config.value_hidden, self.columns(net.game)])

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Returns the mean cross-entropy over horizons of the probability to win, (1 + v) / 2."""
        return F.binary_cross_entropy_with_logits(outputs, (1 + targets) / 2)
