"""The kernel that runs a net: it takes blocks of positions through the steps of a program.

All is data but the kinds of steps, so one compilation serves all nets and boards. `graph.py` writes programs.

A position's values lie side by side in memory, `size` floats: its planes, and what the steps compute. Values of a cell
are contiguous. Their number is filled up to whole vectors; what fills up has no meaning, since lanes do not mix.
"""

import math
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, shared_with_python, subroutine
from azero.compiler.vectors import LANES, add, fetch, fma, larger, load, multiply, spread, store, zeros

GROUP = 6
"""Rows of a product that are computed at once: with AVX2, 12 of 16 registers hold their sums."""

NUM_POINTS = 8
MOST_OUTPUTS = 6  # of a run, see `transforms.py`

CONVOLVE, DENSE, POINTWISE, SIGMOID, MEAN, PEAK, GATHER = range(7)
"""Kinds of steps.

CONVOLVE: a 3 x 3 convolution, with bias. DENSE: a product of each cell's values with a matrix, with bias.
POINTWISE: x, times `scale`, then times weights plus bias, where there are such. SIGMOID. MEAN, PEAK: of each channel.
GATHER: single values from anywhere. CONVOLVE, DENSE and POINTWISE can add values and rectify in the end.
"""

STEP_DTYPE = np.dtype(
    [
        ("kind", np.int64),
        ("cells", np.int64),  # of the output
        ("inputs", np.int64),  # per cell
        ("outputs", np.int64),
        ("x", np.int64),  # the place of the input in a position's memory
        ("x_step", np.int64),  # from cell to cell
        ("scale", np.int64),  # a place, or -1 without; so are the next ones
        ("scale_step", np.int64),
        ("added", np.int64),
        ("added_step", np.int64),
        ("out", np.int64),
        ("out_step", np.int64),
        ("weights", np.int64),  # in the array of weights; of GATHER, in `sources`
        ("bias", np.int64),
        ("has_relu", np.int64),
    ]
)

RUN_DTYPE = np.dtype(
    [
        ("first", np.int64),  # output
        ("outputs", np.int64),
        ("reads", np.int64),  # first input on the board
        ("num_reads", np.int64),
        ("skipped", np.int64),  # inputs beside the board, before the first one
    ]
)


class Program(NamedTuple):
    """A net."""

    steps: np.ndarray  # [steps] STEP_DTYPE
    weights: np.ndarray  # float32
    sources: np.ndarray  # int64, places in a position's memory
    answers: np.ndarray  # [answers] int64, places of the net's outputs
    planes: int  # the place of the input
    planes_step: int
    matrices: np.ndarray  # float32, of `transforms.all_matrices`, flat
    rows: np.ndarray  # [runs] RUN_DTYPE, of the board's height
    columns: np.ndarray  # of its width
    sharing_rows: np.ndarray  # [points of the longest run] int64, see `transforms.Side`
    sharing_columns: np.ndarray


class Memory(NamedTuple):
    """What a thread that runs a net writes to."""

    positions: np.ndarray  # float32, `size` for each position of a block, and some more
    size: int
    block: int  # positions of a block
    points: np.ndarray  # float32, of a block's positions at all pairs of points
    slot: int  # floats of a pair of points
    row_slots: int  # floats from a point of rows to the next one
    depth: int  # floats of a row of a slot
    lines: np.ndarray  # float32, between the transforms along both sides


@shared_with_python
def whole_groups(number: int) -> int:
    """Returns a number of rows, filled up to whole groups."""
    return -(-number // GROUP) * GROUP


@subroutine
def product(a, a_at, a_step, a_next, b, b_at, b_step, inner):
    """Returns the rows of a [GROUP, inner] times b [inner, LANES]. Both have steps, and a also one within a row."""
    c0 = c1 = c2 = c3 = c4 = c5 = zeros()
    for k in range(inner):
        row = load(b, b_at + k * b_step)
        at = a_at + k * a_next
        c0 = fma(spread(a, at), row, c0)
        c1 = fma(spread(a, at + a_step), row, c1)
        c2 = fma(spread(a, at + 2 * a_step), row, c2)
        c3 = fma(spread(a, at + 3 * a_step), row, c3)
        c4 = fma(spread(a, at + 4 * a_step), row, c4)
        c5 = fma(spread(a, at + 5 * a_step), row, c5)
    return c0, c1, c2, c3, c4, c5


@subroutine
def store_group(array, place, step, rows):
    """Stores the rows of a product."""
    store(array, place, rows[0])
    store(array, place + step, rows[1])
    store(array, place + 2 * step, rows[2])
    store(array, place + 3 * step, rows[3])
    store(array, place + 4 * step, rows[4])
    store(array, place + 5 * step, rows[5])


@subroutine
def transform_run(matrices, run, x, place, step, out, out_place, out_step):
    """Computes the points of a run from its inputs."""
    matrix = 2 * run.outputs * NUM_POINTS**2 + run.skipped
    rows = product(matrices, matrix, NUM_POINTS, 1, x, place, step, run.num_reads)
    store(out, out_place, rows[0])
    store(out, out_place + out_step, rows[1])
    store(out, out_place + 2 * out_step, rows[2])
    if run.outputs > 1:
        store(out, out_place + 3 * out_step, rows[3])
    if run.outputs > 2:
        store(out, out_place + 4 * out_step, rows[4])
    if run.outputs > 3:
        store(out, out_place + 5 * out_step, rows[5])
    if run.outputs > 4:
        rows = product(matrices, matrix + GROUP * NUM_POINTS, NUM_POINTS, 1, x, place, step, run.num_reads)
        store(out, out_place + 6 * out_step, rows[0])
        if run.outputs > 5:
            store(out, out_place + 7 * out_step, rows[1])


@subroutine
def transform_back(matrices, run, x, place, step):
    """Returns the outputs of a run, and what has no meaning, from its points."""
    matrix, num_points = (2 * run.outputs + 1) * NUM_POINTS**2, run.outputs + 2
    if run.outputs > 4:
        return product(matrices, matrix, NUM_POINTS, 1, x, place, step, num_points)
    c0, c1, c2, c3, _, _ = product(
        matrices, matrix, NUM_POINTS, 1, x, place, step, num_points
    )  # two rows less to compute
    return c0, c1, c2, c3, zeros(), zeros()


@subroutine
def finish(value, memory, step, start, cell):
    """Stores a vector of a step's output, plus what is added, rectified.

    Args:
      start: place of the position's memory, plus the first channel.
    """
    if step.added >= 0:
        value = add(value, load(memory.positions, start + step.added + cell * step.added_step))
    if step.has_relu:
        value = larger(value, zeros())
    store(memory.positions, start + step.out + cell * step.out_step, value)


@subroutine
def transform_inputs(program, memory, step, count):
    """Computes the input of a convolution at all pairs of points."""
    lines, rows, columns, matrices = memory.lines, program.rows, program.columns, program.matrices
    height = rows[-1].first + rows[-1].outputs
    width = columns[-1].first + columns[-1].outputs
    x_step = step.x_step
    for position in range(count):
        for channel in range(0, step.inputs, LANES):
            start = position * memory.size + step.x + channel
            for number, run in enumerate(columns):
                for i in range(height):
                    place = start + (i * width + run.reads) * x_step
                    out = (number * NUM_POINTS * height + i) * LANES
                    transform_run(matrices, run, memory.positions, place, x_step, lines, out, height * LANES)
            for above, row_run in enumerate(rows):
                for number, run in enumerate(columns):
                    for point in range(run.outputs + 2):
                        place = ((number * NUM_POINTS + point) * height + row_run.reads) * LANES
                        tile = above * program.sharing_columns[point] + number
                        out = (point + 1) * memory.slot + (tile * count + position) * memory.depth + channel
                        transform_run(matrices, row_run, lines, place, LANES, memory.points, out, memory.row_slots)


@subroutine
def multiply_points(program, memory, step, count):
    """Multiplies each pair of points with its weights. The product goes to the slot before, whose input is used up.

    Weights are larger than caches near the core. Each product fetches its share of the next pair's weights.
    """
    points, weights, depth = memory.points, program.weights, memory.depth
    inputs, outputs = step.inputs, step.outputs
    num_columns = len(program.sharing_columns)
    for pair in range(len(program.sharing_rows) * num_columns):
        num_tiles = program.sharing_rows[pair // num_columns] * program.sharing_columns[pair % num_columns]
        matrix = step.weights + pair * inputs * outputs
        num_rows = num_tiles * count
        ahead = matrix + inputs * outputs
        share = inputs // ((num_rows + GROUP - 1) // GROUP) + 1
        for row in range(0, num_rows, GROUP):
            place = pair * memory.slot + row * depth
            for channel in range(0, outputs, LANES):
                for _ in range(share):
                    fetch(weights, ahead)
                    ahead += LANES
                panel = matrix + channel * inputs
                values = product(points, place + memory.slot, depth, 1, weights, panel, LANES, inputs)
                store_group(points, place + channel, depth, values)


@subroutine
def transform_products(program, memory, step, count):
    """Computes the output of a convolution from its products at all pairs of points."""
    lines, rows, columns, matrices = memory.lines, program.rows, program.columns, program.matrices
    width = columns[-1].first + columns[-1].outputs
    line = len(columns) * NUM_POINTS * LANES
    for position in range(count):
        for channel in range(0, step.outputs, LANES):
            for above, row_run in enumerate(rows):
                for number, run in enumerate(columns):
                    for point in range(run.outputs + 2):
                        tile = above * program.sharing_columns[point] + number
                        place = point * memory.slot + (tile * count + position) * memory.depth + channel
                        values = transform_back(matrices, row_run, memory.points, place, memory.row_slots)
                        place = row_run.first * line + (number * NUM_POINTS + point) * LANES
                        store_group(lines, place, line, values)
            bias, start = load(program.weights, step.bias + channel), position * memory.size + channel
            for i in range(rows[-1].first + rows[-1].outputs):
                for number, run in enumerate(columns):
                    place = i * line + number * NUM_POINTS * LANES
                    values = transform_back(matrices, run, lines, place, LANES)
                    cell = i * width + run.first
                    finish(add(values[0], bias), memory, step, start, cell)
                    if run.outputs > 1:
                        finish(add(values[1], bias), memory, step, start, cell + 1)
                    if run.outputs > 2:
                        finish(add(values[2], bias), memory, step, start, cell + 2)
                    if run.outputs > 3:
                        finish(add(values[3], bias), memory, step, start, cell + 3)
                    if run.outputs > 4:
                        finish(add(values[4], bias), memory, step, start, cell + 4)
                    if run.outputs > 5:
                        finish(add(values[5], bias), memory, step, start, cell + 5)


@subroutine
def multiply_rows(program, memory, step, count):
    """Multiplies the values of each cell with a matrix. A group has rows of several cells, or of several positions."""
    is_flat = step.cells == 1
    num_groups, num_rows = (1, count) if is_flat else (count, step.cells)
    row_step = memory.size if is_flat else step.x_step
    for group in range(num_groups):
        for row in range(0, num_rows, GROUP):
            place = group * memory.size + step.x + row * row_step
            for channel in range(0, step.outputs, LANES):
                panel = step.weights + channel * step.inputs
                values = product(memory.positions, place, row_step, 1, program.weights, panel, LANES, step.inputs)
                store_group(memory.lines, 0, LANES, values)
                for k in range(min(GROUP, num_rows - row)):
                    position, cell = (row + k, 0) if is_flat else (group, row + k)
                    value = add(load(memory.lines, k * LANES), load(program.weights, step.bias + channel))
                    finish(value, memory, step, position * memory.size + channel, cell)


@subroutine
def compute_pointwise(program, memory, step, count):
    positions, weights = memory.positions, program.weights
    for position in range(count):
        for cell in range(step.cells):
            for channel in range(0, step.outputs, LANES):
                start = position * memory.size + channel
                value = load(positions, start + step.x + cell * step.x_step)
                if step.scale >= 0:
                    value = multiply(value, load(positions, start + step.scale + cell * step.scale_step))
                if step.weights >= 0:
                    value = fma(value, load(weights, step.weights + channel), load(weights, step.bias + channel))
                finish(value, memory, step, start, cell)


@subroutine
def compute_sigmoid(memory, step, count):
    for position in range(count):
        x, out = position * memory.size + step.x, position * memory.size + step.out
        for cell in range(step.cells):
            for channel in range(step.outputs):
                value = np.float64(memory.positions[x + cell * step.x_step + channel])
                memory.positions[out + cell * step.out_step + channel] = np.float32(1.0 / (1.0 + math.exp(-value)))


@subroutine
def pool(program, memory, step, count):
    """Takes the mean or the maximum of each channel over the cells, of which there are `inputs`."""
    positions = memory.positions
    for position in range(count):
        for channel in range(0, step.outputs, LANES):
            start = position * memory.size + step.x + channel
            value = load(positions, start)
            for cell in range(1, step.inputs):
                other = load(positions, start + cell * step.x_step)
                value = add(value, other) if step.kind == MEAN else larger(value, other)
            if step.kind == MEAN:
                value = multiply(value, load(program.weights, step.weights))
            store(positions, position * memory.size + step.out + channel, value)


@subroutine
def gather(program, memory, step, count):
    for position in range(count):
        start = position * memory.size
        for k in range(step.outputs):
            memory.positions[start + step.out + k] = memory.positions[start + program.sources[step.weights + k]]


@kernel
def run_program(planes, answers, program, memory):
    """Runs a net.

    Args:
      planes: [B, C, cells] float32.
      answers: [B, answers] float32, which is filled.
    """
    for first in range(0, len(planes), memory.block):
        count = min(memory.block, len(planes) - first)
        for position in range(count):
            start = position * memory.size + program.planes
            for channel in range(planes.shape[1]):
                for cell in range(planes.shape[2]):
                    memory.positions[start + cell * program.planes_step + channel] = planes[
                        first + position, channel, cell
                    ]
        for step in program.steps:
            if step.kind == CONVOLVE:
                transform_inputs(program, memory, step, count)
                multiply_points(program, memory, step, count)
                transform_products(program, memory, step, count)
            elif step.kind == DENSE:
                multiply_rows(program, memory, step, count)
            elif step.kind == POINTWISE:
                compute_pointwise(program, memory, step, count)
            elif step.kind == SIGMOID:
                compute_sigmoid(memory, step, count)
            elif step.kind == GATHER:
                gather(program, memory, step, count)
            else:
                pool(program, memory, step, count)
        for position in range(count):
            for k in range(len(program.answers)):
                answers[first + position, k] = memory.positions[position * memory.size + program.answers[k]]
