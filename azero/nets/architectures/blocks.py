"""The tower's parts: convolutions with normalisation, and residual blocks of two convolutions."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.nets.architectures.board import WHOLE, Board
from azero.nets.architectures.global_context import GlobalPoolingBias, SqueezeExcitation


class NormalizedConvolution(nn.Module):
    """A convolution that keeps the board's size, with batch normalisation."""

    def __init__(self, inputs: int, outputs: int, size: int):
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)
        self.norm: nn.BatchNorm2d | nn.Identity = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor, board: Board = WHOLE) -> Tensor:
        return board.normalize(self.norm, self.convolution(x))

    def fold(self) -> None:
        """Merges the normalisation into the convolution, in place."""
        assert isinstance(self.norm, nn.BatchNorm2d), "it is folded once"
        self.convolution = torch.nn.utils.fuse_conv_bn_eval(self.convolution, self.norm)
        self.norm = nn.Identity()


class ResidualBlock(nn.Module):
    """Two convolutions with a skip connection (He et al. 2016); `global_context` as in the settings."""

    def __init__(self, channels: int, global_context: str):
        super().__init__()
        self.first = NormalizedConvolution(channels, channels, 3)
        self.pooling = GlobalPoolingBias(channels) if global_context == "pool" else None
        self.second = NormalizedConvolution(self.pooling.kept if self.pooling else channels, channels, 3)
        self.excitation = SqueezeExcitation(channels) if global_context == "se" else None

    def start_as_identity(self) -> None:
        """Makes the block's output equal its input, which is 0 or more. Its gradients are not zero, so it can learn."""
        assert isinstance(self.second.norm, nn.BatchNorm2d), "it is not folded"
        nn.init.zeros_(self.second.norm.weight)

    def forward(self, x: Tensor, board: Board = WHOLE) -> Tensor:
        y = self.first(x, board)
        y = F.relu(self.pooling(y, board) if self.pooling else y)
        y = self.second(y, board)
        return F.relu(x + (self.excitation(y, board) if self.excitation else y))
