"""`Graph`: the operations of azero's nets, which each library translates into its own."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from azero.nets.graphs.weights import Weights

Node = Any
"""The result of an operation, as a library represents it."""


class Graph(ABC):
    """A graph that grows with each call of an operation. Nodes are [B, C, H, W] or [B, C], float32.

    In int8, the convolutions with `is_quantized` compute with integers. Their input activations, which are never
    negative, are quantized to 256 steps from 0 to their peak. Weights are quantized to 255 steps around 0, with one
    scale per output channel.

    Args:
      peaks: the maxima of the activations that are quantized, in order; None for a graph without int8.

    Attributes:
      activations: the inputs of the convolutions with `is_quantized`, in order.
    """

    def __init__(self, peaks: Sequence[float] | None = None):
        self._peaks = peaks
        self.activations: list[Node] = []

    def convolution(self, x: Node, weights: Weights, is_quantized: bool = False) -> Node:
        """Returns a convolution of stride 1 that keeps the board's size, with its bias."""
        kernel = weights["weight"]
        padding = kernel.shape[2] // 2
        if is_quantized:
            self.activations.append(x)
        if not is_quantized or self._peaks is None:
            return self._convolution(x, self._constant(kernel), weights["bias"], padding)
        x = self._activation_in_steps(x, np.float32(self._peaks[len(self.activations) - 1]))
        highest = np.abs(kernel).max(axis=(1, 2, 3), keepdims=True).clip(1e-8)
        return self._convolution(x, self._kernel_in_steps(kernel, highest), weights["bias"], padding)

    def scaled(self, x: Node, factor: float) -> Node:
        """Returns x, [B, C], times a number."""
        return self.multiply(x, self._constant(np.full((1, 1), factor, np.float32)))

    def signed(self, x: Node) -> Node:
        """Returns 2 p - 1, in [-1, 1], of the logits x, [B, 1, H, W], of probabilities p."""
        two, minus_one = (self._constant(np.full((1, 1, 1, 1), each, np.float32)) for each in (2, -1))
        return self.add(self.multiply(self.sigmoid(x), two), minus_one)

    @abstractmethod
    def planes(self, shape: tuple[int, ...]) -> Node:
        """Returns the input, [B, *shape]."""

    @abstractmethod
    def finished(self, outputs: Mapping[str, Node]) -> Any:
        """Returns the finished model, with these outputs by name, in this order."""

    @abstractmethod
    def _constant(self, array: np.ndarray) -> Node: ...

    @abstractmethod
    def _convolution(self, x: Node, kernel: Node, bias: np.ndarray, padding: int) -> Node: ...

    @abstractmethod
    def _activation_in_steps(self, x: Node, peak: np.float32) -> Node: ...

    @abstractmethod
    def _kernel_in_steps(self, kernel: np.ndarray, highest: np.ndarray) -> Node:
        """Returns a kernel [C, inputs, h, w], quantized from -highest to highest, [C, 1, 1, 1]."""

    @abstractmethod
    def linear(self, x: Node, weights: Weights) -> Node:
        """Returns a linear layer of x, [B, inputs]."""

    @abstractmethod
    def layer_norm(self, x: Node, weights: Weights) -> Node:
        """Returns x, [B, C], normalised over C, with torch's default epsilon."""

    @abstractmethod
    def relu(self, x: Node) -> Node: ...

    @abstractmethod
    def sigmoid(self, x: Node) -> Node: ...

    @abstractmethod
    def add(self, x: Node, y: Node) -> Node: ...

    @abstractmethod
    def multiply(self, x: Node, y: Node) -> Node: ...

    @abstractmethod
    def split(self, x: Node, sizes: Sequence[int]) -> Sequence[Node]:
        """Returns the parts of x's channels, of these sizes."""

    @abstractmethod
    def join(self, parts: Sequence[Node]) -> Node:
        """Returns parts side by side, as channels."""

    @abstractmethod
    def take(self, x: Node, columns: np.ndarray) -> Node:
        """Returns some columns of x, [B, C], in this order."""

    @abstractmethod
    def mean_of_board(self, x: Node) -> Node:
        """Returns the mean of each channel, [B, C]."""

    @abstractmethod
    def peak_of_board(self, x: Node) -> Node:
        """Returns the maximum of each channel, [B, C]."""

    @abstractmethod
    def on_board(self, x: Node) -> Node:
        """Returns values per channel, [B, C], as [B, C, 1, 1]."""

    @abstractmethod
    def flat(self, x: Node) -> Node:
        """Returns x as [B, C * H * W]."""

    @abstractmethod
    def cells(self, x: Node) -> Node:
        """Returns x, [B, 1, H, W], as [B, H, W]."""
