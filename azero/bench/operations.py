"""Counts the operations of one evaluation of a net, from its layers as they run. A multiply-add is 2 operations.

Only the multiply-adds of convolutions and linear layers count, not biases, normalization and activations.
"""

from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F


class Operations(NamedTuple):
    """Operations per position."""

    all_taps: int  # including multiplications with the zeros of the padding around the board
    on_board: int  # without these


def count_operations(net: nn.Module, planes_shape: tuple[int, int, int]) -> Operations:
    """Returns the operations of a net in eval mode that takes planes [B, C, H, W]. The net is not changed."""
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
    """Returns a convolution's operations. A filter of ones on a board of ones counts the taps on the board."""
    ones, taps = torch.ones(1, 1, *planes.shape[2:]), torch.ones(1, 1, *layer.kernel_size)
    on_board = F.conv2d(ones, taps, None, layer.stride, layer.padding, layer.dilation).sum()
    all_taps = output[0, 0].numel() * taps.numel()
    multiply_adds = layer.in_channels // layer.groups * layer.out_channels
    return Operations(2 * multiply_adds * all_taps, 2 * multiply_adds * int(on_board))
