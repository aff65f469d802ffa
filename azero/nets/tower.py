"""The net: a residual tower with a policy head and a win/draw/loss head."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config import NetConfig


class Prediction(NamedTuple):
    """What the net says of B positions; each is seen by the player to move."""

    policy_logits: Tensor  # [B, A]
    result_logits: Tensor  # [B, 3], of win, draw and loss

    def value(self) -> Tensor:
        """Returns P(win) - P(loss), [B] in [-1, 1]."""
        win, _, loss = F.softmax(self.result_logits, dim=1).unbind(1)
        return win - loss


def convolution(inputs: int, outputs: int, size: int) -> nn.Sequential:
    """Returns a convolution that keeps the board's size, and its batch normalisation; `fold` makes one of the two."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs))


class ResidualBlock(nn.Module):
    """Two convolutions beside a way around them (He et al. 2016)."""

    def __init__(self, channels: int):
        super().__init__()
        self.first = convolution(channels, channels, 3)
        self.second = convolution(channels, channels, 3)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.second(F.relu(self.first(x))))


class ResidualTower(nn.Module):
    """The net of AlphaGo Zero [1], with three results in place of one value.

    Source:
      [1] Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods, "Neural network
          architecture". Heads are of our own widths; win, draw and loss as in Leela Chess Zero.
    """

    def __init__(self, config: NetConfig, planes_shape: tuple[int, int, int], num_actions: int):
        super().__init__()
        planes, height, width = planes_shape
        self.config = config
        self.stem = convolution(planes, config.channels, 3)
        self.blocks = nn.Sequential(*(ResidualBlock(config.channels) for _ in range(config.blocks)))
        self.policy_features = convolution(config.channels, config.policy_channels, 1)
        self.policy = nn.Linear(config.policy_channels * height * width, num_actions)
        self.value_features = convolution(config.channels, config.value_channels, 1)
        self.value_hidden = nn.Linear(config.value_channels * height * width, config.value_hidden)
        self.results = nn.Linear(config.value_hidden, 3)
        nn.init.zeros_(self.results.weight)  # a new net calls every position even
        nn.init.zeros_(self.results.bias)

    def forward(self, planes: Tensor) -> Prediction:  # [B, C, H, W]
        x = self.blocks(F.relu(self.stem(planes)))
        policy = F.relu(self.policy_features(x)).flatten(1)
        value = F.relu(self.value_features(x)).flatten(1)
        return Prediction(self.policy(policy), self.results(F.relu(self.value_hidden(value))))


def fold(net: ResidualTower) -> nn.Module:
    """Returns a copy for inference alone: each batch normalisation folded into the convolution before it."""
    folded = _copy(net).eval()
    for parent in folded.modules():
        for name, child in parent.named_children():
            if isinstance(child, nn.Sequential) and len(child) == 2 and isinstance(child[1], nn.BatchNorm2d):
                setattr(parent, name, torch.nn.utils.fuse_conv_bn_eval(child[0], child[1]))
    return folded.requires_grad_(False)


def _copy(net: ResidualTower) -> ResidualTower:
    import copy

    return copy.deepcopy(net)
