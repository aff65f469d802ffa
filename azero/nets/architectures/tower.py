"""The net: a residual tower with a policy head and a win/draw/loss head."""

import copy
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.blocks import NormalizedConvolution, ResidualBlock


class Prediction(NamedTuple):
    """The net's output for B positions, each for the player to move."""

    policy_logits: Tensor  # [B, A]
    result_logits: Tensor  # [B, 3], of win, draw and loss

    def value(self) -> Tensor:
        """Returns P(win) - P(loss), [B] in [-1, 1]."""
        win, _, loss = F.softmax(self.result_logits, dim=1).unbind(1)
        return win - loss


class ResidualTower(nn.Module):
    """The net of AlphaGo Zero [1], with heads of configurable width, and win, draw and loss instead of one value [2].

    Source:
      [1] Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods, "Neural network
          architecture".
      [2] As in Leela Chess Zero.
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
        for last in (self.policy, self.results):  # a new net has a uniform policy and the value 0
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def forward(self, planes: Tensor) -> Prediction:  # [B, C, H, W] float32
        return self.judge(self.features(planes))

    def features(self, planes: Tensor) -> Tensor:
        """Returns the tower's output for planes, [B, channels, H, W], which is the input of all heads."""
        return self.blocks(F.relu(self.stem(planes)))

    def judge(self, features: Tensor) -> Prediction:
        """Returns the output of the policy and value heads for the tower's features."""
        policy = F.relu(self.policy_features(features)).flatten(1)  # [B, policy_channels * H * W]
        value = F.relu(self.value_features(features)).flatten(1)  # [B, value_channels * H * W]
        return Prediction(self.policy(policy), self.results(F.relu(self.value_hidden(value))))


def fold(net: ResidualTower) -> ResidualTower:
    """Returns a copy for inference, with the normalisations folded into the convolutions before them."""
    folded = copy.deepcopy(net).eval()
    for parent in list(folded.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, NormalizedConvolution):
                setattr(parent, name, torch.nn.utils.fuse_conv_bn_eval(child.convolution, child.norm))
    return folded.requires_grad_(False)
