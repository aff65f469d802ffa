"""Kernels of training: a 3 x 3 convolution with batch normalisation and what follows it, and the gradients of these.

They use the transforms and products of the kernel that runs nets. Arrays of cells are float32 [B, cells, C], flat.
C is a multiple of LANES.

    z = relu(normalised(x * w) + added),   where normalisation, `added` and relu may be missing
"""

import math
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.vectors import LANES, add, fma, larger, load, store, where_positive, zeros
from azero.nets.runtimes.winograd.kernels import (
    GROUP,
    Memory,
    multiply_points,
    product,
    store_group,
    transform_inputs,
    transform_products,
)

TAPS = 9
"""Weights of a kernel of 3 x 3."""


class Board(NamedTuple):
    """How a board is transformed.

    Attributes:
      matrices, rows, columns, sharing_rows, sharing_columns: as of `azero.nets.runtimes.winograd.kernels.Program`.
      weights: [pairs, inputs, outputs] as panels, and a bias of zeros; written to by each layer.
      kernel: [pairs up to a GROUP, TAPS] float32, from a kernel's weights to those at all pairs of points.
      kernel_back: [TAPS up to a GROUP, pairs] float32, its transpose.
    """

    matrices: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    sharing_rows: np.ndarray
    sharing_columns: np.ndarray
    weights: np.ndarray
    kernel: np.ndarray
    kernel_back: np.ndarray


class Scratch(NamedTuple):
    """What a thread writes to.

    Attributes:
      block: positions that are computed at once.
      points: float32, a block's inputs at all pairs of points, in slots; see `Memory`.
      gradients: float32, a block's gradients at all pairs of points.
      cells: float32, a block's gradients.
      gradient: [pairs, inputs up to a GROUP, outputs] float32, that of the weights at all pairs of points.
      taps: [TAPS up to a GROUP, inputs, outputs] float32.
      sums: [2, channels] float64.
      factors: [3, channels] float32.
    """

    block: int
    points: np.ndarray
    gradients: np.ndarray
    cells: np.ndarray
    gradient: np.ndarray
    taps: np.ndarray
    sums: np.ndarray
    factors: np.ndarray
    lines: np.ndarray
    slot: int
    row_slots: int
    depth: int


class Shape(NamedTuple):
    """The sizes of a layer."""

    batch: int
    cells: int
    inputs: int
    outputs: int


class Kind(NamedTuple):
    """What a layer has besides its convolution."""

    has_norm: bool
    has_added: bool
    has_relu: bool


class Norm(NamedTuple):
    """A batch normalisation."""

    gamma: np.ndarray  # [C] float32
    beta: np.ndarray
    running_mean: np.ndarray  # these are updated
    running_variance: np.ndarray
    momentum: float
    epsilon: float


class _Step(NamedTuple):
    """A convolution as the shared subroutines read it, see `STEP_DTYPE`."""

    x: int
    x_step: int
    out: int
    out_step: int
    inputs: int
    outputs: int
    weights: int
    bias: int
    added: int
    added_step: int
    has_relu: bool


@subroutine
def _memory(scratch, positions, points, size):
    return Memory(positions, size, scratch.block, points, scratch.slot, scratch.row_slots, scratch.depth, scratch.lines)


@subroutine
def _step(board, x, inputs, out, outputs):
    bias = len(board.sharing_rows) * len(board.sharing_columns) * inputs * outputs
    return _Step(x, inputs, out, outputs, inputs, outputs, 0, bias, -1, 0, False)


@subroutine
def _take_weights(weight, board, scratch, shape, is_back):
    """Computes weights at all pairs of points, from [outputs, inputs, TAPS], or those that lead back to the inputs."""
    taps, inputs, outputs = scratch.taps, shape.inputs, shape.outputs
    size = inputs * outputs
    for out in range(outputs):
        for k in range(inputs):
            for tap in range(TAPS):
                value = weight[(out * inputs + k) * TAPS + tap]
                if is_back:
                    taps[(TAPS - 1 - tap) * size + out * inputs + k] = value
                else:
                    taps[tap * size + k * outputs + out] = value
    num_rows, num_columns = (outputs, inputs) if is_back else (inputs, outputs)
    num_pairs = len(board.sharing_rows) * len(board.sharing_columns)
    for pair in range(0, num_pairs, GROUP):
        for column in range(0, num_columns, LANES):
            for row in range(num_rows):
                values = product(board.kernel, pair * TAPS, TAPS, 1, taps, row * num_columns + column, size, TAPS)
                place = pair * size + (column * num_rows + row * LANES)
                store_group(board.weights, place, size, values)
    for column in range(num_columns):
        board.weights[num_pairs * size + column] = 0


@subroutine
def _give_gradient(dweight, board, scratch, shape):
    """Writes the gradient of the weights, [outputs, inputs, TAPS], from that at all pairs of points."""
    taps, inputs, outputs = scratch.taps, shape.inputs, shape.outputs
    num_pairs = len(board.sharing_rows) * len(board.sharing_columns)
    step = _whole_groups(inputs) * outputs
    for k in range(inputs):
        for out in range(0, outputs, LANES):
            place = k * outputs + out
            for tap in range(0, TAPS, GROUP):
                values = product(
                    board.kernel_back, tap * num_pairs, num_pairs, 1, scratch.gradient, place, step, num_pairs
                )
                store_group(taps, tap * inputs * outputs + place, inputs * outputs, values)
    for out in range(outputs):
        for k in range(inputs):
            for tap in range(TAPS):
                dweight[(out * inputs + k) * TAPS + tap] = taps[(tap * inputs + k) * outputs + out]


@subroutine
def _whole_groups(number):
    return (number + GROUP - 1) // GROUP * GROUP


@kernel
def run_layer(x, added, y, z, moments, weight, norm, board, scratch, shape, kind):
    """Computes a layer.

    Args:
      y: [B, cells, outputs], the convolution's output, which is filled.
      z: the layer's output, which is filled if it is normalised.
      moments: [2, outputs] float32, filled: the mean of y, and one over its standard deviation.
    """
    _take_weights(weight, board, scratch, shape, False)
    from_x = _memory(scratch, x, scratch.points, shape.cells * shape.inputs)
    to_y = _memory(scratch, y, scratch.points, shape.cells * shape.outputs)
    scratch.sums[:] = 0
    for first in range(0, shape.batch, scratch.block):
        count = min(scratch.block, shape.batch - first)
        place, out = first * shape.cells * shape.inputs, first * shape.cells * shape.outputs
        step = _step(board, place, shape.inputs, out, shape.outputs)
        transform_inputs(board, from_x, step, count)
        multiply_points(board, from_x, step, count)
        transform_products(board, to_y, step, count)
        if kind.has_norm:
            for position in range(first, first + count):
                _add_moments(y, position, scratch, shape)
    if kind.has_norm:
        _normalise(y, added, z, moments, norm, scratch, shape, kind)


@subroutine
def _add_moments(y, position, scratch, shape):
    """Adds a position to mean and sum of squared deviations of the positions before it [1].

    Source:
      [1] Chan et al., Updating formulae and a pairwise algorithm for computing sample variances, 1979.
    """
    cells, channels, lines = shape.cells, shape.outputs, scratch.lines
    mean, spread = scratch.sums[0], scratch.sums[1]
    start, share = position * cells * channels, np.float32(1 / cells)
    before = position * cells
    for channel in range(0, channels, LANES):
        total, squares = zeros(), zeros()
        for cell in range(cells):
            total = add(total, load(y, start + cell * channels + channel))
        store(lines, 0, total)
        for k in range(LANES):
            lines[k] = -lines[k] * share
        middle = load(lines, 0)
        for cell in range(cells):
            distance = add(load(y, start + cell * channels + channel), middle)
            squares = fma(distance, distance, squares)
        store(lines, LANES, squares)
        for k in range(LANES):
            distance = -np.float64(lines[k]) - mean[channel + k]
            mean[channel + k] += distance * cells / (before + cells)
            spread[channel + k] += lines[LANES + k] + distance * distance * before * cells / (before + cells)


@subroutine
def _normalise(y, added, z, moments, norm, scratch, shape, kind):
    channels, num = shape.outputs, shape.batch * shape.cells
    mean, spread, factor, shift = scratch.sums[0], scratch.sums[1], scratch.factors[0], scratch.factors[1]
    for channel in range(channels):
        variance = spread[channel] / num
        inverse = 1 / math.sqrt(variance + norm.epsilon)
        moments[channel], moments[channels + channel] = mean[channel], inverse
        factor[channel] = norm.gamma[channel] * inverse
        shift[channel] = norm.beta[channel] - mean[channel] * norm.gamma[channel] * inverse
        norm.running_mean[channel] += norm.momentum * (mean[channel] - norm.running_mean[channel])
        unbiased = spread[channel] / max(num - 1, 1)
        norm.running_variance[channel] += norm.momentum * (unbiased - norm.running_variance[channel])
    for row in range(num):
        for channel in range(0, channels, LANES):
            place = row * channels + channel
            value = fma(load(y, place), load(factor, channel), load(shift, channel))
            if kind.has_added:
                value = add(value, load(added, place))
            if kind.has_relu:
                value = larger(value, zeros())
            store(z, place, value)


@kernel
def run_layer_back(
    x, y, z, dz, dx, dadded, moments, dnorm, dweight, weight, gamma, board, board_back, scratch, shape, kind, has_dx
):
    """Computes the gradients of a layer from that of its output.

    Args:
      dnorm: [2, outputs] float32, filled: the gradients of gamma and beta.
      dweight: [outputs, inputs, TAPS] float32, filled.
      board_back: transforms gradients, as the adjoint of what transforms products.
    """
    if has_dx:
        _take_weights(weight, board, scratch, shape, True)
    from_x = _memory(scratch, x, scratch.points, shape.cells * shape.inputs)
    from_dy = _memory(scratch, scratch.cells, scratch.gradients, shape.cells * shape.outputs)
    to_dx = _memory(scratch, dx, scratch.gradients, shape.cells * shape.inputs)
    if kind.has_norm:
        _sum_back(y, z, dz, moments, dnorm, gamma, scratch, shape, kind)
    num_pairs = len(board.sharing_rows) * len(board.sharing_columns)
    scratch.gradient[: num_pairs * _whole_groups(shape.inputs) * shape.outputs] = 0
    for first in range(0, shape.batch, scratch.block):
        count = min(scratch.block, shape.batch - first)
        place = first * shape.cells * shape.inputs
        _normalise_back(y, z, dz, dadded, scratch, first, count, shape, kind)
        transform_inputs(board, from_x, _step(board, place, shape.inputs, 0, shape.outputs), count)
        step = _step(board, 0, shape.outputs, place, shape.inputs)
        transform_inputs(board_back, from_dy, step, count)
        _add_outer(board, scratch, shape, count)
        if has_dx:
            transform_inputs(board, from_dy, step, count)
            multiply_points(board, from_dy, step, count)
            transform_products(board, to_dx, step, count)
    _give_gradient(dweight, board, scratch, shape)


@subroutine
def _sum_back(y, z, dz, moments, dnorm, gamma, scratch, shape, kind):
    """Computes the gradients of gamma and beta, and from these the factors of `_normalise_back`."""
    cells, channels, lines, factors = shape.cells, shape.outputs, scratch.lines, scratch.factors
    scratch.sums[:] = 0
    of_gamma, of_beta = scratch.sums[0], scratch.sums[1]
    for position in range(shape.batch):
        start = position * cells * channels
        for channel in range(0, channels, LANES):
            for k in range(LANES):
                lines[k] = -moments[channel + k]
            middle, total, products = load(lines, 0), zeros(), zeros()
            for cell in range(cells):
                place = start + cell * channels + channel
                value = load(dz, place)
                if kind.has_relu:
                    value = where_positive(load(z, place), value)
                total = add(total, value)
                products = fma(value, add(load(y, place), middle), products)
            store(lines, 0, total)
            store(lines, LANES, products)
            for k in range(LANES):
                of_beta[channel + k] += lines[k]
                of_gamma[channel + k] += lines[LANES + k]
    num = shape.batch * cells
    for channel in range(channels):
        mean, inverse = np.float64(moments[channel]), np.float64(moments[channels + channel])
        of_gamma[channel] *= inverse
        dnorm[channel], dnorm[channels + channel] = of_gamma[channel], of_beta[channel]
        factor = gamma[channel] * inverse
        slope = -factor * inverse * of_gamma[channel] / num
        factors[0, channel], factors[1, channel] = factor, slope
        factors[2, channel] = -factor * of_beta[channel] / num - slope * mean


@subroutine
def _normalise_back(y, z, dz, dadded, scratch, first, count, shape, kind):
    """Computes the gradient of a block's y."""
    channels, start = shape.outputs, first * shape.cells * shape.outputs
    factor, slope, shift = scratch.factors[0], scratch.factors[1], scratch.factors[2]
    for row in range(count * shape.cells):
        for channel in range(0, channels, LANES):
            own = row * channels + channel
            place = start + own
            value = load(dz, place)
            if kind.has_norm:
                if kind.has_relu:
                    value = where_positive(load(z, place), value)
                if kind.has_added:
                    store(dadded, place, value)
                line = fma(load(slope, channel), load(y, place), load(shift, channel))
                value = fma(load(factor, channel), value, line)
            store(scratch.cells, own, value)


@subroutine
def _add_outer(board, scratch, shape, count):
    """Adds a block to the gradient of the weights at all pairs of points."""
    depth, num_columns, outputs = scratch.depth, len(board.sharing_columns), shape.outputs
    points, gradients, gradient = scratch.points, scratch.gradients, scratch.gradient
    num_inputs = _whole_groups(shape.inputs)
    for pair in range(len(board.sharing_rows) * num_columns):
        num_rows = board.sharing_rows[pair // num_columns] * board.sharing_columns[pair % num_columns] * count
        slot, matrix = (pair + 1) * scratch.slot, pair * num_inputs * outputs
        for channel in range(0, outputs, LANES):
            for row in range(0, shape.inputs, GROUP):
                place = matrix + row * outputs + channel
                c0, c1, c2, c3, c4, c5 = product(
                    points, slot + row, 1, depth, gradients, slot + channel, depth, num_rows
                )
                c0, c1 = add(c0, load(gradient, place)), add(c1, load(gradient, place + outputs))
                c2, c3 = add(c2, load(gradient, place + 2 * outputs)), add(c3, load(gradient, place + 3 * outputs))
                c4, c5 = add(c4, load(gradient, place + 4 * outputs)), add(c5, load(gradient, place + 5 * outputs))
                store_group(gradient, place, outputs, (c0, c1, c2, c3, c4, c5))
