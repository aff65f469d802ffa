"""Kernels of training: a 3 x 3 convolution with batch normalisation and what follows it, and the gradients of these.

They use the transforms and products of the kernel that runs nets. Arrays of cells are float32 [B, cells, C], flat.
C is a multiple of LANES.

    y = x * w,   z = relu(normalised(y) + added),   where normalisation, `added` and relu may be missing

A call runs several layers, which are records: all that happens between the layers of a tower is done here.
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
    whole_groups,
)

TAPS = 9
"""Weights of a kernel of 3 x 3."""


class Board(NamedTuple):
    """How a board is transformed.

    Attributes:
      matrices, rows, columns, sharing_rows, sharing_columns: as of `azero.nets.runtimes.winograd.kernels.Program`.
      weights: [pairs, inputs, outputs] as panels, and a bias of zeros; each layer writes its own.
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


LAYER_DTYPE = np.dtype(
    [
        ("inputs", np.int64),
        ("outputs", np.int64),
        ("weight", np.int64),  # the place of [outputs, inputs, TAPS] in the array of weights, and of their gradients
        ("channel", np.int64),  # the place of [outputs] in the arrays of norms
        ("has_norm", np.int64),
        ("has_relu", np.int64),
        ("x", np.int64),  # places in the array of cells
        ("y", np.int64),
        ("z", np.int64),
        ("added", np.int64),  # or -1 without; so are the next ones
        ("dz", np.int64),  # places in the array of gradients
        ("dx", np.int64),
        ("dadded", np.int64),
        ("more", np.int64),  # a gradient that is added to dx
    ]
)
"""A layer. Without a norm there is no z, but y is the output, and there is neither relu nor anything added."""


class Norms(NamedTuple):
    """Batch normalisations of all layers, whose channels lie side by side.

    Attributes:
      moments: [3, channels] float32, filled: mean, one over the standard deviation, and the unbiased variance.
      gradients: [2, channels] float32, filled: of gamma and beta.
    """

    gamma: np.ndarray  # [channels] float32
    beta: np.ndarray
    moments: np.ndarray
    gradients: np.ndarray
    epsilon: float


class Shape(NamedTuple):
    """What all layers have in common."""

    batch: int
    cells: int


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
def _step(board, x, inputs, out, outputs, added):
    bias = len(board.sharing_rows) * len(board.sharing_columns) * inputs * outputs
    return _Step(x, inputs, out, outputs, inputs, outputs, 0, bias, added, outputs, False)


@subroutine
def _num_pairs(board):
    return len(board.sharing_rows) * len(board.sharing_columns)


@subroutine
def _take_weights(weights, layer, board, scratch, is_back):
    """Computes a layer's weights at all pairs of points, or those that lead from dy to dx."""
    taps, inputs, outputs = scratch.taps, layer.inputs, layer.outputs
    size = inputs * outputs
    for out in range(outputs):
        for k in range(inputs):
            place = layer.weight + (out * inputs + k) * TAPS
            for tap in range(TAPS):
                if is_back:
                    taps[(TAPS - 1 - tap) * size + out * inputs + k] = weights[place + tap]
                else:
                    taps[tap * size + k * outputs + out] = weights[place + tap]
    num_rows, num_columns = (outputs, inputs) if is_back else (inputs, outputs)
    for pair in range(0, _num_pairs(board), GROUP):
        for column in range(0, num_columns, LANES):
            for row in range(num_rows):
                values = product(board.kernel, pair * TAPS, TAPS, 1, taps, row * num_columns + column, size, TAPS)
                store_group(board.weights, pair * size + column * num_rows + row * LANES, size, values)
    for column in range(num_columns):
        board.weights[_num_pairs(board) * size + column] = 0


@subroutine
def _give_gradient(dweights, layer, board, scratch):
    """Writes the gradient of a layer's weights, from that at all pairs of points."""
    taps, inputs, outputs = scratch.taps, layer.inputs, layer.outputs
    num_pairs, size = _num_pairs(board), inputs * outputs
    step = whole_groups(inputs) * outputs
    for k in range(inputs):
        for out in range(0, outputs, LANES):
            place = k * outputs + out
            for tap in range(0, TAPS, GROUP):
                values = product(
                    board.kernel_back, tap * num_pairs, num_pairs, 1, scratch.gradient, place, step, num_pairs
                )
                store_group(taps, tap * size + place, size, values)
    for out in range(outputs):
        for k in range(inputs):
            place = layer.weight + (out * inputs + k) * TAPS
            for tap in range(TAPS):
                dweights[place + tap] = taps[tap * size + k * outputs + out]


@kernel
def run_layers(layers, cells, weights, norms, board, scratch, shape):
    """Computes layers one after another."""
    for layer in layers:
        _take_weights(weights, layer, board, scratch, False)
        from_x = _memory(scratch, cells, scratch.points, shape.cells * layer.inputs)
        to_y = _memory(scratch, cells, scratch.points, shape.cells * layer.outputs)
        scratch.sums[:] = 0
        for first in range(0, shape.batch, scratch.block):
            count = min(scratch.block, shape.batch - first)
            place = layer.x + first * shape.cells * layer.inputs
            out = layer.y + first * shape.cells * layer.outputs
            step = _step(board, place, layer.inputs, out, layer.outputs, -1)
            transform_inputs(board, from_x, step, count)
            multiply_points(board, from_x, step, count)
            transform_products(board, to_y, step, count)
            if layer.has_norm:
                for position in range(first, first + count):
                    _add_moments(cells, position, layer, scratch, shape)
        if layer.has_norm:
            _normalise(cells, layer, norms, scratch, shape)


@subroutine
def _add_moments(values, position, layer, scratch, shape):
    """Adds a position to mean and sum of squared deviations of the positions before it [1].

    Source:
      [1] Chan et al., Updating formulae and a pairwise algorithm for computing sample variances, 1979.
    """
    cells, channels, lines = shape.cells, layer.outputs, scratch.lines
    mean, spread = scratch.sums[0], scratch.sums[1]
    start, share = layer.y + position * cells * channels, np.float32(1 / cells)
    before = position * cells
    for channel in range(0, channels, LANES):
        total, squares = zeros(), zeros()
        for cell in range(cells):
            total = add(total, load(values, start + cell * channels + channel))
        store(lines, 0, total)
        for k in range(LANES):
            lines[k] = -lines[k] * share
        middle = load(lines, 0)
        for cell in range(cells):
            distance = add(load(values, start + cell * channels + channel), middle)
            squares = fma(distance, distance, squares)
        store(lines, LANES, squares)
        own, both = cells / (before + cells), before * cells / (before + cells)
        for k in range(LANES):
            distance = -np.float64(lines[k]) - mean[channel + k]
            mean[channel + k] += distance * own
            spread[channel + k] += lines[LANES + k] + distance * distance * both


@subroutine
def _normalise(values, layer, norms, scratch, shape):
    channels, num, total = layer.outputs, shape.batch * shape.cells, len(norms.gamma)
    mean, spread, factor, shift = scratch.sums[0], scratch.sums[1], scratch.factors[0], scratch.factors[1]
    for channel in range(channels):
        place = layer.channel + channel
        inverse = 1 / math.sqrt(spread[channel] / num + norms.epsilon)
        norms.moments[place], norms.moments[total + place] = mean[channel], inverse
        norms.moments[2 * total + place] = spread[channel] / max(num - 1, 1)
        factor[channel] = norms.gamma[place] * inverse
        shift[channel] = norms.beta[place] - mean[channel] * norms.gamma[place] * inverse
    for row in range(num):
        for channel in range(0, channels, LANES):
            place = row * channels + channel
            value = fma(load(values, layer.y + place), load(factor, channel), load(shift, channel))
            if layer.added >= 0:
                value = add(value, load(values, layer.added + place))
            if layer.has_relu:
                value = larger(value, zeros())
            store(values, layer.z + place, value)


@kernel
def run_layers_back(layers, cells, gradients, weights, dweights, norms, board, board_back, scratch, shape):
    """Computes the gradients of layers, the last one first, from that of the last output.

    Args:
      board_back: transforms gradients, as the adjoint of what transforms products.
    """
    for number in range(len(layers) - 1, -1, -1):
        layer = layers[number]
        from_x = _memory(scratch, cells, scratch.points, shape.cells * layer.inputs)
        from_dy = _memory(scratch, scratch.cells, scratch.gradients, shape.cells * layer.outputs)
        to_dx = _memory(scratch, gradients, scratch.gradients, shape.cells * layer.inputs)
        if layer.dx >= 0:
            _take_weights(weights, layer, board, scratch, True)
        if layer.has_norm:
            _sum_back(cells, gradients, layer, norms, scratch, shape)
        scratch.gradient[: _num_pairs(board) * whole_groups(layer.inputs) * layer.outputs] = 0
        for first in range(0, shape.batch, scratch.block):
            count = min(scratch.block, shape.batch - first)
            place = first * shape.cells * layer.inputs
            _normalise_back(cells, gradients, layer, scratch, first, count, shape)
            step = _step(board, layer.x + place, layer.inputs, 0, layer.outputs, -1)
            transform_inputs(board, from_x, step, count)
            more = layer.more + place if layer.more >= 0 else -1
            step = _step(board, 0, layer.outputs, layer.dx + place, layer.inputs, more)
            transform_inputs(board_back, from_dy, step, count)
            _add_outer(board, layer, scratch, count)
            if layer.dx >= 0:
                transform_inputs(board, from_dy, step, count)
                multiply_points(board, from_dy, step, count)
                transform_products(board, to_dx, step, count)
        _give_gradient(dweights, layer, board, scratch)


@subroutine
def _sum_back(values, gradients, layer, norms, scratch, shape):
    """Computes the gradients of gamma and beta, and from these the factors of `_normalise_back`."""
    cells, channels, lines, factors = shape.cells, layer.outputs, scratch.lines, scratch.factors
    scratch.sums[:] = 0
    of_gamma, of_beta, total = scratch.sums[0], scratch.sums[1], len(norms.gamma)
    for position in range(shape.batch):
        start = position * cells * channels
        for channel in range(0, channels, LANES):
            for k in range(LANES):
                lines[k] = -norms.moments[layer.channel + channel + k]
            middle, sums, products = load(lines, 0), zeros(), zeros()
            for cell in range(cells):
                place = start + cell * channels + channel
                value = load(gradients, layer.dz + place)
                if layer.has_relu:
                    value = where_positive(load(values, layer.z + place), value)
                sums = add(sums, value)
                products = fma(value, add(load(values, layer.y + place), middle), products)
            store(lines, 0, sums)
            store(lines, LANES, products)
            for k in range(LANES):
                of_beta[channel + k] += lines[k]
                of_gamma[channel + k] += lines[LANES + k]
    num = shape.batch * cells
    for channel in range(channels):
        place = layer.channel + channel
        mean, inverse = np.float64(norms.moments[place]), np.float64(norms.moments[total + place])
        of_gamma[channel] *= inverse
        norms.gradients[place], norms.gradients[total + place] = of_gamma[channel], of_beta[channel]
        factor = norms.gamma[place] * inverse
        slope = -factor * inverse * of_gamma[channel] / num
        factors[0, channel], factors[1, channel] = factor, slope
        factors[2, channel] = -factor * of_beta[channel] / num - slope * mean


@subroutine
def _normalise_back(values, gradients, layer, scratch, first, count, shape):
    """Computes the gradient of a block's y."""
    channels, start = layer.outputs, first * shape.cells * layer.outputs
    factor, slope, shift = scratch.factors[0], scratch.factors[1], scratch.factors[2]
    for row in range(count * shape.cells):
        for channel in range(0, channels, LANES):
            own = row * channels + channel
            place = start + own
            value = load(gradients, layer.dz + place)
            if layer.has_norm:
                if layer.has_relu:
                    value = where_positive(load(values, layer.z + place), value)
                if layer.dadded >= 0:
                    store(gradients, layer.dadded + place, value)
                line = fma(load(slope, channel), load(values, layer.y + place), load(shift, channel))
                value = fma(load(factor, channel), value, line)
            store(scratch.cells, own, value)


@subroutine
def _add_outer(board, layer, scratch, count):
    """Adds a block to the gradient of the weights at all pairs of points."""
    depth, num_columns, outputs = scratch.depth, len(board.sharing_columns), layer.outputs
    points, gradients, gradient = scratch.points, scratch.gradients, scratch.gradient
    num_inputs = whole_groups(layer.inputs)
    for pair in range(_num_pairs(board)):
        num_rows = board.sharing_rows[pair // num_columns] * board.sharing_columns[pair % num_columns] * count
        slot, matrix = (pair + 1) * scratch.slot, pair * num_inputs * outputs
        for channel in range(0, outputs, LANES):
            for row in range(0, layer.inputs, GROUP):
                place = matrix + row * outputs + channel
                c0, c1, c2, c3, c4, c5 = product(
                    points, slot + row, 1, depth, gradients, slot + channel, depth, num_rows
                )
                c0, c1 = add(c0, load(gradient, place)), add(c1, load(gradient, place + outputs))
                c2, c3 = add(c2, load(gradient, place + 2 * outputs)), add(c3, load(gradient, place + 3 * outputs))
                c4, c5 = add(c4, load(gradient, place + 4 * outputs)), add(c5, load(gradient, place + 5 * outputs))
                store_group(gradient, place, outputs, (c0, c1, c2, c3, c4, c5))
