"""What lets a residual block tell every cell of the whole board, which its 3x3 convolutions see but piece by piece."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_REDUCTION = 8
"""Channels for each unit of squeeze-and-excitation's hidden layer: 8 often in Leela Chess Zero, 16 in Hu et al."""

_FEWEST_UNITS = 4  # of that layer: one or two may well be silent from the start

_POOLED_SHARE = 4
"""Channels for each one that is pooled: about as in KataGo, 32 of 96 to 64 of 256."""


class SqueezeExcitation(nn.Module):
    """Scales each channel by what all of them are on average [1], and adds to it where there is a bias [2].

        z = mean of x over the board,  (s, b) = W2 relu(W1 z),  y = sigmoid(s) x + b

    Source:
      [1] Hu et al., Squeeze-and-excitation networks, CVPR 2018, section 3: of the scale alone, b = 0.
      [2] Leela Chess Zero, lczero-training, `ApplySqueezeExcitation`: scale and bias.
    """

    def __init__(self, channels: int, has_bias: bool):
        super().__init__()
        self.channels = channels
        self.has_bias = has_bias
        hidden = max(channels // _REDUCTION, _FEWEST_UNITS)
        self.squeeze = nn.Linear(channels, hidden)
        self.excite = nn.Linear(hidden, 2 * channels if has_bias else channels)

    def forward(self, x: Tensor) -> Tensor:  # [B, channels, H, W], and so is what it returns
        excited = self.excite(F.relu(self.squeeze(x.mean((2, 3)))))[:, :, None, None]
        if not self.has_bias:
            return torch.sigmoid(excited) * x
        scale, bias = excited.split(self.channels, dim=1)
        return torch.sigmoid(scale) * x + bias


class GlobalPoolingBias(nn.Module):
    """Takes the first channels away, and adds to each of the others what their mean and maximum call for.

        y = X + W (mean of relu(G), max of relu(G)),  x being G and X

    Source:
      Wu, Accelerating self-play learning in Go, 2019, section 3.3. There it is in some of the blocks, and the mean is
      given once more, scaled by the board's size; here a net has one size, and all of its blocks pool.
    """

    def __init__(self, channels: int):
        super().__init__()
        self.pooled = max(channels // _POOLED_SHARE, 1)
        self.kept = channels - self.pooled
        self.bias = nn.Linear(2 * self.pooled, self.kept)

    def forward(self, x: Tensor) -> Tensor:  # [B, pooled + kept, H, W]; it returns [B, kept, H, W]
        pooled, kept = x.split([self.pooled, self.kept], dim=1)
        pooled = F.relu(pooled)
        summary = torch.cat([pooled.mean((2, 3)), pooled.amax((2, 3))], dim=1)
        return kept + self.bias(summary)[:, :, None, None]
