"""A net's weights as arrays: their names and shapes by layers, and the normalisations folded into them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

_EPSILON = np.float32(1e-5)  # torch's default, in batch normalisation

_REDUCTION = 8
"""Channels per hidden unit of squeeze-and-excitation. Leela Chess Zero often has 8, Hu et al. 16."""

_FEWEST_UNITS = 4  # of that hidden layer; one or two units could be dead from the start

_POOLED_SHARE = 4
"""Channels per pooled channel. KataGo is similar: 32 of 96 to 64 of 256 are pooled."""


@dataclass(frozen=True)
class Weights:
    """The weights below a name: `weights["bias"]` of `weights.part("stem")` is the array `stem.bias`."""

    arrays: Mapping[str, np.ndarray]
    prefix: str = ""

    def __getitem__(self, name: str) -> np.ndarray:
        return self.arrays[self.prefix + name]

    def part(self, name: str) -> "Weights":
        """Returns the weights of a layer."""
        return Weights(self.arrays, f"{self.prefix}{name}.")

    def has(self, name: str) -> bool:
        """Returns whether there are weights of a layer."""
        return any(each.startswith(f"{self.prefix}{name}.") for each in self.arrays)

    def parts(self, name: str) -> Iterator["Weights"]:
        """Yields the weights of the layers `name.0`, `name.1` and so on."""
        number = 0
        while self.has(f"{name}.{number}"):
            yield self.part(f"{name}.{number}")
            number += 1


def fold_weights(weights: Mapping[str, np.ndarray]) -> Weights:
    """Returns a net's weights, with the batch normalisations folded into the convolutions before them.

        norm(convolve(x, K)) = convolve(x, s K) + (beta - s mean),  s = gamma / sqrt(variance + epsilon)

    Args:
      weights: arrays as in a checkpoint, all float32. Each `X.convolution.weight` with `X.norm.*` becomes `X.weight`
        and `X.bias`, with the same bits as in `contract.fold`.
    """
    folded = {}
    for name, array in weights.items():
        layer, is_convolution, _ = name.partition(".convolution.")
        if is_convolution:
            gamma, beta, mean, variance = (
                weights[f"{layer}.norm.{each}"] for each in ("weight", "bias", "running_mean", "running_var")
            )
            scale = 1 / np.sqrt(variance + _EPSILON)
            folded[f"{layer}.weight"] = array * (gamma * scale)[:, None, None, None]
            folded[f"{layer}.bias"] = -mean * scale * gamma + beta
        elif f"{name.rpartition('.norm.')[0]}.convolution.weight" not in weights:
            folded[name] = array
    return Weights(folded)


Shapes = dict[str, tuple[int, ...]]
"""The shapes of weights by name. All are float32, except numbers, which are int64."""


def linear_shapes(name: str, inputs: int, outputs: int) -> Shapes:
    """Returns the shapes of a linear layer's weights."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def norm_shapes(name: str, units: int) -> Shapes:
    """Returns the shapes of the weights of a layer normalisation."""
    return {f"{name}.weight": (units,), f"{name}.bias": (units,)}


def convolution_shapes(name: str, inputs: int, outputs: int, size: int) -> Shapes:
    """Returns the shapes of the weights of a convolution with batch normalisation."""
    norm = {f"{name}.norm.{each}": (outputs,) for each in ("weight", "bias", "running_mean", "running_var")}
    kernel = {f"{name}.convolution.weight": (outputs, inputs, size, size)}
    return kernel | norm | {f"{name}.norm.num_batches_tracked": ()}


def units_of_excitation(channels: int) -> int:
    """Returns the width of the hidden layer of squeeze-and-excitation."""
    return max(channels // _REDUCTION, _FEWEST_UNITS)


def num_pooled(channels: int) -> int:
    """Returns the number of channels that `GlobalPoolingBias` pools."""
    return max(channels // _POOLED_SHARE, 1)
