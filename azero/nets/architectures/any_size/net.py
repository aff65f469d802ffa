"""The residual tower with heads that do not depend on the board's size, so that one net plays boards of all sizes."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.any_size.graph import numbers_to_take, size_factor
from azero.nets.architectures.blocks import NormalizedConvolution
from azero.nets.architectures.board import WHOLE, Board
from azero.nets.architectures.contract import Prediction, architecture, start_at_zero
from azero.nets.architectures.tower.net import Tower

_NEVER = -1e4  # the logit of a place that is no action


@architecture("any_size")
class AnySizeTower(Tower):
    """A tower whose policy is made by 1x1 convolutions, and whose value is made from pooled channels.

        p = relu(V x + A pool(relu(G x))),  logits of cells: B p,  logits of slots: C pool(relu(G x))
        results: D relu(E pool(relu(U x)))

    V, G, U and B are 1x1 convolutions, A, C, D and E are linear. x are the tower's features. `Game.places` says which
    plane and cell, or which slot, belongs to an action.

    Source:
      Wu, Accelerating self-play learning in Go, 2019, appendix A. There the value's pooling has another scaled mean in
      place of the maximum.
    """

    def __init__(self, config: NetConfig, game: Game):
        super().__init__(config, game)
        places, channels = game.places, config.policy_channels
        self.policy_features = NormalizedConvolution(config.channels, channels, 1)
        self.policy_context = NormalizedConvolution(config.channels, channels, 1)
        self.policy_bias = nn.Linear(3 * channels, channels)
        self.policy = nn.Conv2d(channels, places.planes, 1)
        self.slots = nn.Linear(3 * channels, places.slots) if places.slots else None
        self.value_features = NormalizedConvolution(config.channels, config.value_channels, 1)
        self.value_hidden = nn.Linear(3 * config.value_channels, config.value_hidden)
        self.results = nn.Linear(config.value_hidden, 3)
        start_at_zero(self.policy, self.results)
        if self.slots:
            start_at_zero(self.slots)
        numbers = numbers_to_take(game)
        self.register_buffer("numbers", None if numbers is None else torch.from_numpy(numbers), persistent=False)

    def judge(self, features: Tensor, board: Board = WHOLE) -> Prediction:
        """Returns the prediction; on boards with `places`, the policy has a logit for each place instead of action."""
        context = pooled(F.relu(self.policy_context(features, board)), board)
        bias = self.policy_bias(context)[:, :, None, None]
        logits = self.policy(F.relu(self.policy_features(features, board) + bias)).flatten(1)
        if self.slots:
            logits = torch.cat([logits, self.slots(context)], dim=1)
        if board.places is not None:
            logits = logits.masked_fill(~board.places, _NEVER)
        elif self.numbers is not None:
            logits = logits[:, self.numbers]
        value = pooled(F.relu(self.value_features(features, board)), board)
        return Prediction(logits, self.results(F.relu(self.value_hidden(value))))

    def summary(self, channels: int) -> tuple[nn.Module, int]:
        """Returns pooling, so that no layer depends on the board's size."""
        return Pooling(), 3 * channels


class Pooling(nn.Module):
    """Pools each channel over the board, [B, C, H, W] to [B, 3 C], whatever its size."""

    def forward(self, x: Tensor) -> Tensor:
        return pooled(x, WHOLE)


def pooled(x: Tensor, board: Board) -> Tensor:
    """Returns [B, 3 C] of x, [B, C, H, W], at least 0: each channel's mean, the mean scaled by size, the maximum."""
    mean = board.mean(x)
    return torch.cat([mean, size_factor(board.side(x)) * mean, x.amax((2, 3))], dim=1)
