"""A net's work an evaluation, counted from its layers as they run; a multiply-add counts as 2 operations.

Only multiply-adds count, of convolutions and linear layers: biases, normalisation and activations are left out.
"""

from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F


class Operations(NamedTuple):
    """Operations of one position."""

    all_taps: int  # with those that fall on the padding around the board, and multiply by zero
    on_board: int  # without them


def count_operations(net: nn.Module, planes_shape: tuple[int, int, int]) -> Operations:
    """Returns the operations of a net that takes planes [B, C, H, W]; of one in eval mode, which it leaves as it is."""
    counts: list[Operations] = []

    def count(layer: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        if isinstance(layer, nn.Conv2d):
            counts.append(_of_convolution(layer, inputs[0], output))
        elif isinstance(layer, nn.Linear):
            counts.append(Operations(*[2 * output.numel() * layer.in_features] * 2))

    hooks = [layer.register_forward_hook(count) for layer in net.modules()]
    try:
        with torch.inference_mode():
            net(torch.zeros(1, *planes_shape))
    finally:
        for hook in hooks:
            hook.remove()
    return Operations(sum(each.all_taps for each in counts), sum(each.on_board for each in counts))


def _of_convolution(layer: nn.Conv2d, planes: torch.Tensor, output: torch.Tensor) -> Operations:
    """Returns a convolution's operations; its taps on the board are what it makes of ones, by a filter of ones."""
    ones, taps = torch.ones(1, 1, *planes.shape[2:]), torch.ones(1, 1, *layer.kernel_size)
    on_board = F.conv2d(ones, taps, None, layer.stride, layer.padding, layer.dilation).sum()
    all_taps = output[0, 0].numel() * taps.numel()
    multiply_adds = layer.in_channels // layer.groups * layer.out_channels
    return Operations(2 * multiply_adds * all_taps, 2 * multiply_adds * int(on_board))
