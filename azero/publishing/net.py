"""A net as a program of steps, as `nets/runtimes/winograd` has it, for one position at a time.

A 3 x 3 convolution is computed directly. For a single position that takes no longer than Winograd's, and the weights
stay as small as they are in the checkpoint.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.vectors import LANES, add, fma, load, spread, store, zeros
from azero.nets.runtimes.winograd import kernels
from azero.nets.runtimes.winograd.graph import Step, Value, WinogradGraph, whole
from azero.nets.runtimes.winograd.kernels import (
    DENSE,
    GATHER,
    GROUP,
    POINTWISE,
    SIGMOID,
    compute_pointwise,
    compute_sigmoid,
    finish,
    gather,
    multiply_rows,
    pool,
    store_group,
    whole_groups,
)

_LAYER_NORM = 7
_EPSILON = 1e-5  # torch's default


class PortableGraph(WinogradGraph):
    """A net as a program. Weights of a convolution are [tap, input, output], in panels of LANES outputs.

    Attributes:
      exact: weights that are no weights of the net's, such as the share of a cell in a mean: place, length and value.
        They must not be rounded to 16 bits.
    """

    def __init__(self) -> None:
        super().__init__()
        self.exact: list[tuple[int, int, float]] = []

    def _vector(self, array: np.ndarray) -> int:
        place = super()._vector(array)
        if np.ptp(array) == 0:
            self.exact.append((place, len(array), float(array[0])))
        return place

    def _convolution(self, x: Value, kernel: np.ndarray, bias: np.ndarray, padding: int) -> Value:
        outputs, inputs, *taps = kernel.shape
        if taps != [3, 3]:
            return super()._convolution(x, kernel, bias, padding)
        self._depth = max(self._depth, whole(inputs))
        weights = self._panels(kernel.transpose(2, 3, 1, 0).reshape(9 * inputs, outputs))
        out = self._new(x.cells, outputs)
        return self._add(Step(kernels.CONVOLVE, out, inputs, x, weights=weights, bias=self._vector(bias)))

    def layer_norm(self, x: Value, weights) -> Value:
        out = self._new(x.cells, x.channels)
        scale, bias = self._vector(weights["weight"]), self._vector(weights["bias"])
        return self._add(Step(_LAYER_NORM, out, x.channels, x, weights=scale, bias=bias))


class Memory(NamedTuple):
    """What a pass writes to. The names are those of `kernels.Memory`, whose steps are used here."""

    positions: np.ndarray  # float32, the values of a position, and some more
    size: int
    block: int
    lines: np.ndarray  # float32, for `multiply_rows`
    padded: np.ndarray  # float32, the input of a convolution with a frame of zeros
    height: int
    width: int


def new_memory(size: int, depth: int, board: tuple[int, int]) -> Memory:
    """Returns the memory of a pass. `size` and `depth` are those of the model."""
    height, width = board
    places = whole_groups((height + 2) * (width + 1) + 2) + GROUP
    return Memory(
        positions=np.zeros(size + (GROUP + 1) * max(depth, LANES) + GROUP * size, np.float32),
        size=size,
        block=1,
        lines=np.zeros(GROUP * LANES, np.float32),
        padded=np.zeros(places * depth, np.float32),
        height=height,
        width=width,
    )


@subroutine
def convolve(program, memory, step):
    """Computes a 3 x 3 convolution. Places of the padded board lie row by row, with one place between two rows.

    So a tap is a step to another place, also at the edges. Groups of places run over what lies between rows.
    """
    depth = (step.inputs + LANES - 1) // LANES * LANES
    height, width = memory.height, memory.width
    stride = width + 1
    first = stride + 1  # the place of the first cell
    pad(memory, step, depth)
    num_places = height * stride
    for channel in range(0, step.outputs, LANES):
        panel = step.weights + 9 * step.inputs * channel
        bias = load(program.weights, step.bias + channel)
        for begin in range(0, num_places, GROUP):
            at = (first + begin) * depth
            rows = convolve_group(program.weights, panel, memory.padded, at, depth, stride, step.inputs, bias)
            store_group(memory.lines, 0, LANES, rows)
            row, column = begin // stride, begin % stride
            for k in range(min(GROUP, num_places - begin)):
                if column < width:
                    finish(load(memory.lines, k * LANES), memory, step, channel, row * width + column)
                column += 1
                if column == stride:
                    row, column = row + 1, 0


@subroutine
def pad(memory, step, depth):
    """Copies the input of a convolution to the padded board. What lies beside the cells is zero."""
    nothing = zeros()
    width, stride = memory.width, memory.width + 1
    for k in range(0, (stride + 1) * depth, LANES):
        store(memory.padded, k, nothing)
    for row in range(memory.height):
        at = ((row + 1) * stride + 1) * depth
        for column in range(width):
            place = step.x + (row * width + column) * step.x_step
            for k in range(0, depth, LANES):
                store(memory.padded, at + column * depth + k, load(memory.positions, place + k))
        for k in range(0, depth, LANES):
            store(memory.padded, at + width * depth + k, nothing)
    for k in range(((memory.height + 1) * stride + 1) * depth, len(memory.padded) - LANES + 1, LANES):
        store(memory.padded, k, nothing)


@subroutine
def convolve_group(weights, panel, x, at, depth, stride, inputs, bias):
    """Returns LANES outputs at GROUP places, of which the first one's input is at `at`."""
    c0 = c1 = c2 = c3 = c4 = c5 = bias
    for tap in range(9):
        row = at + ((tap // 3 - 1) * stride + tap % 3 - 1) * depth
        for k in range(inputs):
            w = load(weights, panel)
            panel += LANES
            c0 = fma(spread(x, row + k), w, c0)
            c1 = fma(spread(x, row + depth + k), w, c1)
            c2 = fma(spread(x, row + 2 * depth + k), w, c2)
            c3 = fma(spread(x, row + 3 * depth + k), w, c3)
            c4 = fma(spread(x, row + 4 * depth + k), w, c4)
            c5 = fma(spread(x, row + 5 * depth + k), w, c5)
    return c0, c1, c2, c3, c4, c5


@subroutine
def normalize(program, memory, step):
    """Computes a layer normalisation of single numbers."""
    positions, number = memory.positions, step.inputs
    mean, square = 0.0, 0.0
    for k in range(number):
        mean += positions[step.x + k]
    mean /= number
    for k in range(number):
        square += (positions[step.x + k] - mean) ** 2
    scale = 1.0 / np.sqrt(square / number + _EPSILON)
    for k in range(number):
        value = (positions[step.x + k] - mean) * scale
        positions[step.out + k] = np.float32(value * program.weights[step.weights + k] + program.weights[step.bias + k])


@subroutine
def multiply_numbers(program, memory, step):
    """Computes a linear layer: `multiply_rows` for a single row. Four sums do not wait for each other."""
    x, weights, whole_inputs = step.x, program.weights, step.inputs // 4 * 4
    for channel in range(0, step.outputs, LANES):
        panel = step.weights + channel * step.inputs
        c0, c1, c2, c3 = load(weights, step.bias + channel), zeros(), zeros(), zeros()
        for k in range(0, whole_inputs, 4):
            place = panel + k * LANES
            c0 = fma(spread(memory.positions, x + k), load(weights, place), c0)
            c1 = fma(spread(memory.positions, x + k + 1), load(weights, place + LANES), c1)
            c2 = fma(spread(memory.positions, x + k + 2), load(weights, place + 2 * LANES), c2)
            c3 = fma(spread(memory.positions, x + k + 3), load(weights, place + 3 * LANES), c3)
        for k in range(whole_inputs, step.inputs):
            c0 = fma(spread(memory.positions, x + k), load(weights, panel + k * LANES), c0)
        finish(add(add(c0, c1), add(c2, c3)), memory, step, channel, 0)


@kernel
def run_net(program, memory, planes, answers):
    """Runs a net on one position.

    Args:
      planes: [C, cells] float32.
      answers: [answers] float32, which is filled.
    """
    for channel in range(planes.shape[0]):
        for cell in range(planes.shape[1]):
            memory.positions[program.planes + cell * program.planes_step + channel] = planes[channel, cell]
    for step in program.steps:
        if step.kind == kernels.CONVOLVE:
            convolve(program, memory, step)
        elif step.kind == DENSE and step.cells == 1:
            multiply_numbers(program, memory, step)
        elif step.kind == DENSE:
            multiply_rows(program, memory, step, 1)
        elif step.kind == POINTWISE:
            compute_pointwise(program, memory, step, 1)
        elif step.kind == SIGMOID:
            compute_sigmoid(memory, step, 1)
        elif step.kind == GATHER:
            gather(program, memory, step, 1)
        elif step.kind == _LAYER_NORM:
            normalize(program, memory, step)
        else:
            pool(program, memory, step, 1)
    for k in range(len(program.answers)):
        answers[k] = memory.positions[program.answers[k]]
