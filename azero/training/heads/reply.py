"""The opponent's reply: the search's policy at the next ply.

Source:
  Wu, Accelerating self-play learning in Go, 2019, section 3.4. There it shares the policy head's layers; here it has
  its own.
"""

import numpy as np
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.contract import Net
from azero.nets.architectures.heads import dense_layers
from azero.selfplay.data.auxiliary import Positions
from azero.training.heads.contract import Head


class Reply(Head):
    """Policies, [B, A], in the positions' symmetries; zeros if the opponent has no reply."""

    name = "reply"

    def columns(self, game: Game) -> int:
        return game.num_actions

    def targets(self, positions: Positions) -> np.ndarray:
        """Returns the opponent's policies at the next ply, [B, A].

        There is none after the last ply, if the same player moves again, or if the next search was a fast one.
        """
        shard, indices = positions.shard, positions.indices
        following = np.minimum(indices + 1, shard.num_positions - 1)
        is_reply = (indices + 1 < positions.ends) & (shard.players[following] != shard.players[indices])
        is_reply &= shard.weights[following] > 0
        policies = positions.derived.policies.probabilities(positions.game, following, positions.symmetries)
        return policies * is_reply[:, None].astype(np.float32)

    def lesson_targets(self, game: Game, results: np.ndarray) -> np.ndarray:
        """Returns zeros, [B, A]: lessons have no replies."""
        return np.zeros((len(results), self.columns(game)), np.float32)

    def layers(self, config: NetConfig, net: Net) -> nn.Module:
        return dense_layers(net, config.policy_channels, [self.columns(net.game)])

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Returns the mean cross-entropy of the policies; a position without a reply counts as 0."""
        return -(targets * F.log_softmax(outputs, dim=1)).sum(1).mean()
