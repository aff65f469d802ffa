"""Auxiliary heads: what the tower is taught beside policy and value. Only training has them; checkpoints do not.

Source:
  [1] Wu, Accelerating self-play learning in Go, 2019, section 3.4: the opponent's reply, on the policy head's layers.
  [2] Leela Chess Zero, lczero-training, `moves_left_loss`: plies left, by a Huber loss.
  [3] KataGo, docs/KataGoMethods.md, "Short-term value and score targets": less noisy than the game's result.
  [4] Wu 2019, section 4.1: ownership and score at the end. Its score is a distribution, here a number.

Here each head starts from the tower's features, so that a net can be saved and used without them.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import Config, NetConfig
from azero.games import Game
from azero.nets.architectures.blocks import NormalizedConvolution
from azero.nets.architectures.tower import Prediction, ResidualTower
from azero.selfplay.data.auxiliary import auxiliary_heads_of

_PLIES = 20.0
"""The unit of plies left, which makes that loss about as large as others; it is quadratic up to half of it [2]."""


class Learner(nn.Module):
    """A net, and those auxiliary heads whose losses the settings give a weight.

    They are `reply`, `plies_left`, `short_term`, `ownership` and `score`.
    """

    def __init__(self, config: Config, game: Game):
        super().__init__()
        self.net = ResidualTower(config.net, game)
        self.heads = nn.ModuleDict()
        wanted, net = auxiliary_heads_of(config.training, game), config.net
        if wanted.has_reply:
            self.heads["reply"] = _head(net, game, net.policy_channels, [game.num_actions])
        if wanted.has_plies_left:
            self.heads["plies_left"] = _head(net, game, net.value_channels, [net.value_hidden, 1])
        if wanted.horizons:
            self.heads["short_term"] = _head(net, game, net.value_channels, [net.value_hidden, len(wanted.horizons)])
        if wanted.has_ownership:
            self.heads["ownership"] = _head_of_cells(net)
        if wanted.has_score:
            self.heads["score"] = _head(net, game, net.value_channels, [net.value_hidden, 1])

    def forward(self, planes: Tensor) -> tuple[Prediction, dict[str, Tensor]]:
        """Returns what the net says of planes [B, C, H, W], and what each head puts out, [B, outputs]."""
        features = self.net.features(planes)
        return self.net.judge(features), {name: head(features) for name, head in self.heads.items()}


def _head(net: NetConfig, game: Game, channels: int, sizes: list[int]) -> nn.Sequential:
    """Returns a 1x1 convolution to `channels`, then linear layers of `sizes`; a new one puts out zeros."""
    _, height, width = game.planes_shape
    *hidden, last = (nn.Linear(*pair) for pair in pairwise([channels * height * width, *sizes]))
    _initialize_to_zero(last)
    between = (layer for each in hidden for layer in (each, nn.ReLU()))
    return nn.Sequential(NormalizedConvolution(net.channels, channels, 1), nn.ReLU(), nn.Flatten(), *between, last)


def _head_of_cells(net: NetConfig) -> nn.Sequential:
    """Returns 1x1 convolutions to an output for each cell, [B, H * W]; a new one puts out zeros."""
    last = nn.Conv2d(net.value_channels, 1, 1)
    _initialize_to_zero(last)
    return nn.Sequential(NormalizedConvolution(net.channels, net.value_channels, 1), nn.ReLU(), last, nn.Flatten())


def _initialize_to_zero(layer: nn.Linear | nn.Conv2d) -> None:
    """Lets a new layer put out zeros."""
    nn.init.zeros_(layer.weight)
    assert layer.bias is not None
    nn.init.zeros_(layer.bias)


def auxiliary_losses(
    outputs: dict[str, Tensor],
    replies: Tensor,
    plies_left: Tensor,
    short_term: Tensor,
    owners: Tensor,
    scores: Tensor,
) -> dict[str, Tensor]:
    """Returns the loss of each head that there is, by name; the targets are those of `AuxiliaryTargets`.

    reply: cross-entropy of policies, of which a position without a reply has none.
    plies_left: Huber loss of the distance, in units of 20 plies.
    short_term: cross-entropy of the chance to win, (1 + v) / 2; mean over horizons.
    ownership: cross-entropy of the chance to hold a cell, (1 + owner) / 2; mean over cells.
    score: Huber loss of the distance, in units of the board's side; quadratic up to one.

    Of a target that is unknown, of a game that was given up, there is no loss; means are over those that are known.
    """
    losses = {}
    if "reply" in outputs:
        losses["reply"] = -(replies * F.log_softmax(outputs["reply"], dim=1)).sum(1).mean()
    if "plies_left" in outputs:
        huber = partial(F.huber_loss, delta=0.5)
        losses["plies_left"] = _where_known(huber, outputs["plies_left"], plies_left / _PLIES)
    if "short_term" in outputs:
        losses["short_term"] = F.binary_cross_entropy_with_logits(outputs["short_term"], (1 + short_term) / 2)
    if "ownership" in outputs:
        losses["ownership"] = _where_known(F.binary_cross_entropy_with_logits, outputs["ownership"], (1 + owners) / 2)
    if "score" in outputs:
        losses["score"] = _where_known(F.huber_loss, outputs["score"], scores)
    return losses


def _where_known(loss: Callable[..., Tensor], outputs: Tensor, targets: Tensor) -> Tensor:
    """Returns the mean of a loss over the targets that are not NaN; zero of none."""
    is_known = targets.isfinite()
    losses = loss(outputs, torch.where(is_known, targets, 0.0), reduction="none")
    return (losses * is_known).sum() / is_known.sum().clamp(min=1)
