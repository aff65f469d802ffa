"""The tower's parts: convolutions with normalisation, residual blocks of two convolutions, and layers that give each
cell information about the whole board. The convolutions of a block see only neighbours."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.nets.architectures.board import WHOLE, Board
from azero.nets.graphs.weights import num_pooled, units_of_excitation


class SqueezeExcitation(nn.Module):
    """Scales each channel by a function of all channels' means.

        z = mean of x over the board,  y = sigmoid(W2 relu(W1 z)) x

    Source:
      Hu et al., Squeeze-and-excitation networks, CVPR 2018, section 3.
    """

    def __init__(self, channels: int):
        super().__init__()
        hidden = units_of_excitation(channels)
        self.squeeze = nn.Linear(channels, hidden)
        self.excite = nn.Linear(hidden, channels)

    def forward(self, x: Tensor, board: Board = WHOLE) -> Tensor:  # [B, channels, H, W] to the same shape
        excited = self.excite(F.relu(self.squeeze(board.mean(x))))[:, :, None, None]
        return torch.sigmoid(excited) * x


class GlobalPoolingBias(nn.Module):
    """Pools the first channels G over the board, and adds a function of their means and maxima to the other channels X.

        y = X + W (mean of relu(G), max of relu(G)),  where x = (G, X)

    Source:
      Wu, Accelerating self-play learning in Go, 2019, section 3.3. There only some blocks pool, and a second mean is
      scaled by the board's size. Here all blocks pool; only the heads of `any_size` have the scaled mean.
    """

    def __init__(self, channels: int):
        super().__init__()
        self.pooled = num_pooled(channels)
        self.kept = channels - self.pooled
        self.bias = nn.Linear(2 * self.pooled, self.kept)

    def forward(self, x: Tensor, board: Board = WHOLE) -> Tensor:  # [B, pooled + kept, H, W] to [B, kept, H, W]
        pooled, kept = x.split([self.pooled, self.kept], dim=1)
        pooled = F.relu(pooled)
        summary = torch.cat([board.mean(pooled), pooled.amax((2, 3))], dim=1)
        return board.cut(kept + self.bias(summary)[:, :, None, None])


class NormalizedConvolution(nn.Module):
    """A convolution that keeps the board's size, with batch normalisation."""

    def __init__(self, inputs: int, outputs: int, size: int):
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False)
        self.norm: nn.BatchNorm2d | nn.Identity = nn.BatchNorm2d(outputs)

    def forward(self, x: Tensor, board: Board = WHOLE) -> Tensor:
        return board.normalize(self.norm, self.convolution(x))

    def rectified(self, x: Tensor, board: Board = WHOLE, added: Tensor | None = None) -> Tensor:
        """Returns the output, plus what is added, rectified."""
        y = self(x, board)
        return F.relu(y if added is None else added + y)

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
        y = F.relu(self.pooling(self.first(x, board), board)) if self.pooling else self.first.rectified(x, board)
        if self.excitation:
            return F.relu(x + self.excitation(self.second(y, board), board))
        return self.second.rectified(y, board, x)
