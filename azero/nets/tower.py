"""The net: a residual tower with a policy head and a win/draw/loss head."""

import copy
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config import NetConfig
from azero.games import Game
from azero.nets.global_context import GlobalPoolingBias, SqueezeExcitation


class Prediction(NamedTuple):
    """What the net says of B positions, each as the player to move sees it."""

    policy_logits: Tensor  # [B, A]
    result_logits: Tensor  # [B, 3], of win, draw and loss

    def value(self) -> Tensor:
        """Returns P(win) - P(loss), [B] in [-1, 1]."""
        win, _, loss = F.softmax(self.result_logits, dim=1).unbind(1)
        return win - loss


class NormalizedConvolution(nn.Module):
    """A convolution that keeps the board's size, with its batch normalisation; `fold` makes one of the two."""

    def __init__(self, inputs: int, outputs: int, size: int):
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.convolution(x))


class ResidualBlock(nn.Module):
    """Two convolutions, and a way around them (He et al. 2016); `global_context` as in the settings."""

    def __init__(self, channels: int, global_context: str):
        super().__init__()
        self.first = NormalizedConvolution(channels, channels, 3)
        self.pooling = GlobalPoolingBias(channels) if global_context == "pool" else None
        self.second = NormalizedConvolution(self.pooling.kept if self.pooling else channels, channels, 3)
        has_bias = global_context == "se_bias"
        self.excitation = SqueezeExcitation(channels, has_bias) if global_context in ("se", "se_bias") else None

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        y = F.relu(self.pooling(y) if self.pooling else y)
        y = self.second(y)
        return F.relu(x + (self.excitation(y) if self.excitation else y))


class ResidualTower(nn.Module):
    """The net of AlphaGo Zero [1], with three results in place of one value and heads of settable width.

    Source:
      [1] Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods, "Neural network
          architecture". Win, draw and loss as in Leela Chess Zero.
    """

    def __init__(self, config: NetConfig, game: Game):
        super().__init__()
        self.game = game
        planes, height, width = game.planes_shape
        self.stem = NormalizedConvolution(planes, config.channels, 3)
        self.blocks = nn.Sequential(
            *(ResidualBlock(config.channels, config.global_context) for _ in range(config.blocks))
        )
        self.policy_features = NormalizedConvolution(config.channels, config.policy_channels, 1)
        self.policy = nn.Linear(config.policy_channels * height * width, game.num_actions)
        self.value_features = NormalizedConvolution(config.channels, config.value_channels, 1)
        self.value_hidden = nn.Linear(config.value_channels * height * width, config.value_hidden)
        self.results = nn.Linear(config.value_hidden, 3)
        for last in (self.policy, self.results):  # a new net likes every move alike and calls every position even
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def forward(self, planes: Tensor) -> Prediction:  # [B, C, H, W] float32
        return self.judge(self.features(planes))

    def features(self, planes: Tensor) -> Tensor:
        """Returns what the tower makes of the planes, [B, channels, H, W], from which all heads start."""
        return self.blocks(F.relu(self.stem(planes)))

    def judge(self, features: Tensor) -> Prediction:
        """Returns what policy and value head say of features."""
        policy = F.relu(self.policy_features(features)).flatten(1)  # [B, policy_channels * H * W]
        value = F.relu(self.value_features(features)).flatten(1)  # [B, value_channels * H * W]
        return Prediction(self.policy(policy), self.results(F.relu(self.value_hidden(value))))


def fold(net: ResidualTower) -> ResidualTower:
    """Returns a copy for inference alone, its normalisations folded into the convolutions before them."""
    folded = copy.deepcopy(net).eval()
    for parent in list(folded.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, NormalizedConvolution):
                setattr(parent, name, torch.nn.utils.fuse_conv_bn_eval(child.convolution, child.norm))
    return folded.requires_grad_(False)
