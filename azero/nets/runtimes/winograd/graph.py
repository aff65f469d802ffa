"""A net as a program for `kernels.py`: its steps, its weights, and places in memory for what the steps compute."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from azero.nets.graphs.graph import Graph
from azero.nets.graphs.weights import Weights
from azero.nets.runtimes.winograd import kernels
from azero.nets.runtimes.winograd.kernels import LANES, STEP_DTYPE, Program
from azero.nets.runtimes.winograd.transforms import all_matrices, split_side, transform_kernel


def whole(number: int) -> int:
    """Returns a number of floats, filled up to whole vectors."""
    return -(-number // LANES) * LANES


@dataclass(eq=False)
class Buffer:
    """A part of a position's memory. Others may use it after the last step that does."""

    size: int
    place: int = -1
    last_use: int = -1


@dataclass(frozen=True, eq=False)
class Value:
    """A result of an operation: [cells, channels] of each position, or single numbers [channels].

    Attributes:
      at: the place in the buffer.
      step: floats from cell to cell.
      columns: the places of single numbers in the buffer, in the order of the graph's columns; None if they are side
        by side.
    """

    buffer: Buffer
    cells: int
    channels: int
    step: int
    at: int = 0
    columns: np.ndarray | None = None

    @property
    def place(self) -> int:
        return self.buffer.place + self.at

    def places(self) -> np.ndarray:
        """Returns the places of the numbers of a value with one cell, in a position's memory."""
        return self.place + (np.arange(self.channels) if self.columns is None else self.columns)


@dataclass(eq=False)
class Step:
    """A step of a program, see `kernels.STEP_DTYPE`. `sources` are of GATHER."""

    kind: int
    out: Value
    inputs: int
    x: Value | None = None
    scale: Value | None = None
    added: Value | None = None
    weights: int = -1
    bias: int = -1
    has_relu: bool = False
    sources: Sequence[Value] = ()

    def operands(self) -> list[Value]:
        return [each for each in (self.x, self.scale, self.added, *self.sources) if each is not None]


class Model(NamedTuple):
    """A finished program.

    Attributes:
      size: floats of a position's memory.
      depth: most channels of a convolution, in floats.
      shapes: of the outputs by name, without the batch. Their numbers lie side by side in the answers.
    """

    program: Program
    size: int
    depth: int
    shapes: dict[str, tuple[int, ...]]


class WinogradGraph(Graph):
    """A net as a program. Raises RuntimeError at an operation that there is none for."""

    def __init__(self) -> None:
        super().__init__()
        self._steps: list[Step] = []
        self._weights: list[np.ndarray] = []
        self._num_weights = 0
        self._board = 0, 0
        self._depth = 0
        self._shape_of_cells: dict[Value, tuple[int, ...]] = {}

    def planes(self, shape: tuple[int, ...]) -> Value:
        channels, *board = shape
        self._board = board[0], board[1]
        self._planes = self._new(board[0] * board[1], channels)
        return self._planes

    def finished(self, outputs: Mapping[str, Value]) -> Model:
        steps = _joined(self._steps, list(outputs.values()))
        size = _place(steps, self._planes.buffer, [each.buffer for each in outputs.values()])
        records, sources = np.zeros(len(steps), STEP_DTYPE), [np.zeros(0, np.int64)]
        for record, step in zip(records, steps, strict=True):
            _write(record, step)
            if step.kind == kernels.GATHER:
                record["weights"] = sum(map(len, sources))
                sources.append(np.concatenate([each.places() for each in step.sources]))
        rows, columns = map(split_side, self._board)
        program = Program(
            steps=records,
            weights=np.concatenate(self._weights),
            sources=np.concatenate(sources),
            answers=np.concatenate([each.places() for each in outputs.values()]),
            planes=self._planes.place,
            planes_step=self._planes.step,
            matrices=all_matrices().reshape(-1),
            rows=rows.runs,
            columns=columns.runs,
            sharing_rows=rows.sharing,
            sharing_columns=columns.sharing,
        )
        shapes = {name: self._shape_of_cells.get(each, (each.channels,)) for name, each in outputs.items()}
        return Model(program, size, self._depth, shapes)

    def _constant(self, array: np.ndarray) -> np.ndarray:
        return array

    def _convolution(self, x: Value, kernel: np.ndarray, bias: np.ndarray, padding: int) -> Value:
        outputs, inputs, *taps = kernel.shape
        if taps not in ([1, 1], [3, 3]):
            raise RuntimeError(f"it has no convolutions of {taps[0]} x {taps[1]}")
        out = self._new(x.cells, outputs)
        if taps == [3, 3]:
            self._depth = max(self._depth, whole(inputs), whole(outputs))
            points = len(split_side(self._board[0]).sharing), len(split_side(self._board[1]).sharing)
            kind, weights = kernels.CONVOLVE, self._panels(transform_kernel(kernel, points))
        else:
            kind, weights = kernels.DENSE, self._panels(kernel[:, :, 0, 0].T)
        return self._add(Step(kind, out, inputs, x, weights=weights, bias=self._vector(bias)))

    def _activation_in_steps(self, x: Value, peak: np.float32) -> Value:
        raise RuntimeError("it has no int8")

    def _kernel_in_steps(self, kernel: np.ndarray, highest: np.ndarray) -> Value:
        raise RuntimeError("it has no int8")

    def linear(self, x: Value, weights: Weights) -> Value:
        matrix = weights["weight"].T
        if x.columns is not None:
            full = np.zeros((x.columns.max() + 1, matrix.shape[1]), np.float32)
            full[x.columns] = matrix
            matrix = full
        out = self._new(1, matrix.shape[1])
        bias = self._vector(weights["bias"])
        return self._add(Step(kernels.DENSE, out, len(matrix), x, weights=self._panels(matrix), bias=bias))

    def layer_norm(self, x: Value, weights: Weights) -> Value:
        raise RuntimeError("it has no layer normalisation")

    def relu(self, x: Value) -> Value:
        return self._pointwise(x, has_relu=True)

    def sigmoid(self, x: Value) -> Value:
        return self._add(Step(kernels.SIGMOID, self._new(x.cells, x.channels), x.channels, x))

    def add(self, x: Value, y: Value | np.ndarray) -> Value:
        if isinstance(y, np.ndarray):
            return self._affine(x, 1.0, y.item())
        x, y = (x, y) if x.cells >= y.cells else (y, x)
        return self._pointwise(x, added=y)

    def multiply(self, x: Value, y: Value | np.ndarray) -> Value:
        if isinstance(y, np.ndarray):
            return self._affine(x, y.item(), 0.0)
        x, y = (x, y) if x.cells >= y.cells else (y, x)
        return self._pointwise(x, scale=y)

    def split(self, x: Value, sizes: Sequence[int]) -> Sequence[Value]:
        starts = np.cumsum([0, *sizes[:-1]])
        return [replace(x, channels=size, at=x.at + int(start)) for size, start in zip(sizes, starts, strict=True)]

    def join(self, parts: Sequence[Value]) -> Value:
        channels = sum(each.channels for each in parts)
        return self._add(Step(kernels.GATHER, self._new(1, channels), channels, sources=parts))

    def take(self, x: Value, columns: np.ndarray) -> Value:
        places = columns if x.columns is None else x.columns[columns]
        return replace(x, channels=len(columns), columns=places)

    def mean_of_board(self, x: Value) -> Value:
        share = self._vector(np.full(x.channels, 1 / x.cells))
        return self._add(Step(kernels.MEAN, self._new(1, x.channels), x.cells, x, weights=share))

    def peak_of_board(self, x: Value) -> Value:
        return self._add(Step(kernels.PEAK, self._new(1, x.channels), x.cells, x))

    def on_board(self, x: Value) -> Value:
        return x

    def flat(self, x: Value) -> Value:
        columns = np.add.outer(np.arange(x.channels), np.arange(x.cells) * x.step).reshape(-1)
        return replace(x, cells=1, channels=len(columns), columns=columns)

    def cells(self, x: Value) -> Value:
        flat = self.flat(x)
        self._shape_of_cells[flat] = self._board
        return flat

    def _new(self, cells: int, channels: int) -> Value:
        return Value(Buffer(cells * whole(channels)), cells, channels, whole(channels))

    def _add(self, step: Step) -> Value:
        self._steps.append(step)
        return step.out

    def _pointwise(self, x: Value, **parts) -> Value:
        return self._add(Step(kernels.POINTWISE, self._new(x.cells, x.channels), x.channels, x, **parts))

    def _affine(self, x: Value, factor: float, term: float) -> Value:
        weights, bias = (self._vector(np.full(x.channels, each)) for each in (factor, term))
        return self._pointwise(x, weights=weights, bias=bias)

    def _vector(self, array: np.ndarray) -> int:
        """Returns the place of weights with a number per channel."""
        return self._keep(np.pad(array, (0, -len(array) % LANES)))

    def _panels(self, matrix: np.ndarray) -> int:
        """Returns the place of matrices [..., inputs, outputs], as panels [..., outputs / LANES, inputs, LANES]."""
        *outer, inputs, outputs = matrix.shape
        full = np.zeros((*outer, inputs, whole(outputs)), np.float32)
        full[..., :outputs] = matrix
        return self._keep(full.reshape(*outer, inputs, -1, LANES).swapaxes(-3, -2))

    def _keep(self, array: np.ndarray) -> int:
        place = self._num_weights
        self._weights.append(np.ascontiguousarray(array, np.float32).reshape(-1))
        self._num_weights += array.size
        return place


def _joined(steps: Sequence[Step], outputs: Sequence[Value]) -> list[Step]:
    """Returns the steps with additions and rectifications as parts of the steps before them, where these allow it."""
    uses = Counter(each.buffer for step in steps for each in step.operands()) + Counter(each.buffer for each in outputs)
    done: list[Step] = []
    for step in steps:
        last = done[-1] if done else None
        if last is None or not _can_join(last, step) or uses[last.out.buffer] > 1:
            done.append(replace(step))
            continue
        if step.added is not None:
            last.added = step.x if step.added is last.out else step.added
        last.out, last.has_relu = step.out, step.has_relu
    return done


def _can_join(last: Step, step: Step) -> bool:
    """Returns whether a step only adds to the output of the last one, or rectifies it, which that could do itself."""
    if last.kind not in (kernels.CONVOLVE, kernels.DENSE, kernels.POINTWISE) or last.has_relu:
        return False
    if step.kind != kernels.POINTWISE or step.scale is not None or step.weights >= 0:
        return False
    is_next = last.out in (step.x, step.added) and last.out.cells == step.out.cells
    return is_next and (step.added is None or last.added is None)


def _place(steps: Sequence[Step], planes: Buffer, outputs: Sequence[Buffer]) -> int:
    """Gives buffers their places in a position's memory; returns its size.

    A convolution may write over its input, which it has transformed before.
    """
    for number, step in enumerate(steps):
        for value in step.operands():
            value.buffer.last_use = number
    for buffer in outputs:
        buffer.last_use = len(steps)
    planes.place, size, live = 0, planes.size, [planes]
    for number, step in enumerate(steps):
        kept = [value.buffer for value in step.operands() if step.kind != kernels.CONVOLVE or value is not step.x]
        live = [each for each in live if each.last_use > number or each in kept]
        buffer, place = step.out.buffer, 0
        for each in sorted(live, key=lambda other: other.place):
            if place + buffer.size <= each.place:
                break
            place = max(place, each.place + each.size)
        buffer.place = place
        live.append(buffer)
        size = max(size, place + buffer.size)
    return size


def _write(record: np.void, step: Step) -> None:
    """Writes a step as the kernel reads it."""
    out = step.out
    record["kind"], record["cells"], record["inputs"] = step.kind, out.cells, step.inputs
    is_of_numbers = step.kind in (kernels.GATHER, kernels.SIGMOID)
    record["outputs"] = out.channels if is_of_numbers else whole(out.channels)
    record["out"], record["out_step"] = out.place, out.step
    record["weights"], record["bias"], record["has_relu"] = step.weights, step.bias, step.has_relu
    for name, value in (("x", step.x), ("scale", step.scale), ("added", step.added)):
        record[name] = -1 if value is None else value.place
        if value is not None:
            record[f"{name}_step"] = value.step if value.cells > 1 else 0
