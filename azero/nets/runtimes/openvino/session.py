"""The net run by OpenVINO, the fastest runtime on a CPU, in fp32, bf16 or int8. Nothing here imports torch.

By default `import openvino` sends an event with a client id through the package `openvino_telemetry`, and stores that
id in the home folder. If the package cannot be imported, OpenVINO uses a stub that does neither. Only this module
imports openvino.
"""

import functools
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from azero.nets.architectures.drawing import Drawing
from azero.nets.graphs.graph import Graph
from azero.nets.graphs.weights import Weights
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.runtimes.session import Heads

sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # blocks its import

import openvino  # noqa: E402
from openvino import opset13 as ops  # noqa: E402

_BOARD = [2, 3]  # the board's dimensions


class OpenVinoSession:
    """A net ready to run: passes of a fixed number of rows, one thread each, up to `num_threads` side by side."""

    def __init__(self, model: openvino.Model, precision: str, num_threads: int):
        self._compiled = _compile(model, "f32" if precision == "fp32" else "bf16", num_threads)
        self._own = threading.local()

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32. B is the model's."""
        if not hasattr(self._own, "request"):
            self._own.request = self._compiled.create_infer_request()
            self._own.planes = np.empty(tuple(self._compiled.input(0).shape), np.float32)
            self._own.request.set_input_tensor(openvino.Tensor(self._own.planes, shared_memory=True))
        np.copyto(self._own.planes, planes)
        self._own.request.infer()
        logits, results = (self._own.request.get_output_tensor(k).data for k in range(2))
        likelihoods = np.exp(results - results.max(axis=1, keepdims=True))
        return logits.copy(), (likelihoods[:, 0] - likelihoods[:, 2]) / likelihoods.sum(axis=1)


def open_drawing(drawing: Drawing, precision: str, rows: int, num_threads: int) -> OpenVinoSession:
    """Returns a session of a net for passes of `rows` rows. int8 measures the drawing's peaks if it has none."""
    if precision == "int8" and drawing.peaks is None:
        drawing.peaks = measure_peaks(drawing, sample_positions(drawing.game))
    graph = OpenVinoGraph(rows, drawing.peaks if precision == "int8" else None)
    return OpenVinoSession(drawing.on(graph), precision, num_threads)


def open_alone(drawing: Drawing) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Returns a net in fp32, ready to run: from planes [B, C, H, W] to logits of actions [B, A] and results [B, 3].

    It runs one position after another, so that bits do not depend on B.
    """
    run = _open_one(drawing.on(OpenVinoGraph(1)))

    def judge(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        answers = [tuple(run(each[None]).values()) for each in planes]
        logits, results = (np.concatenate(parts) for parts in zip(*answers, strict=True))
        return logits, results

    return judge


def open_heads(drawing: Drawing) -> Heads:
    """Returns a net's kept heads in fp32, ready to run for one position at a time."""
    return _open_one(drawing.heads_on(OpenVinoGraph(1)))


def _open_one(model: openvino.Model) -> Heads:
    """Returns a model in fp32, ready to run for one position at a time."""
    compiled = _compile(model, "f32", num_threads=1)

    def run(planes: np.ndarray) -> dict[str, np.ndarray]:
        answer = compiled(planes)
        return {each.any_name: answer[each] for each in compiled.outputs}

    return run


def supported_precisions() -> tuple[str, ...]:
    """Returns the precisions that OpenVINO supports on this CPU, in ascending order of speed."""
    capabilities = _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    return tuple(each for each in ("fp32", "bf16", "int8") if each.upper() in capabilities)


def measure_peaks(drawing: Drawing, positions: np.ndarray) -> list[float]:
    """Returns the maximum over positions, planes [B, C, H, W], of each activation that int8 quantizes, in order."""
    graph = OpenVinoGraph(len(positions))
    model = drawing.on(graph)
    taps = openvino.Model([ops.result(each) for each in graph.activations], model.get_parameters())
    answer = _compile(taps, "f32", num_threads=1)(positions)
    return [max(float(values.max()), 1e-6) for values in answer.values()]


def convert_traced(traced: Any, planes: Any) -> openvino.Model:
    """Returns a net that torch has traced with `planes`, [B, C, H, W], as a model for B rows."""
    return openvino.convert_model(traced, example_input=planes, input=[list(planes.shape)])


class OpenVinoGraph(Graph):
    """A net as an OpenVINO model for passes of `rows` rows."""

    def __init__(self, rows: int, peaks: Sequence[float] | None = None):
        super().__init__(peaks)
        self._rows = rows

    def planes(self, shape: tuple[int, ...]) -> openvino.Node:
        self._input = ops.parameter([self._rows, *shape], np.float32, name="planes")
        return self._input

    def finished(self, outputs: Mapping[str, openvino.Node]) -> openvino.Model:
        results = [ops.result(each) for each in outputs.values()]
        for name, result in zip(outputs, results, strict=True):
            result.output(0).tensor.set_names({name})
        return openvino.Model(results, [self._input])

    def _constant(self, array: np.ndarray) -> openvino.Node:
        return ops.constant(array)

    def _convolution(self, x: openvino.Node, kernel: openvino.Node, bias: np.ndarray, padding: int) -> openvino.Node:
        y = ops.convolution(x, kernel, [1, 1], [padding, padding], [padding, padding], [1, 1])
        return ops.add(y, ops.constant(bias.reshape(1, -1, 1, 1)))

    def _activation_in_steps(self, x: openvino.Node, peak: np.float32) -> openvino.Node:
        return _in_steps(x, np.zeros((), np.float32), peak, 256)

    def _kernel_in_steps(self, kernel: np.ndarray, highest: np.ndarray) -> openvino.Node:
        return _in_steps(ops.constant(kernel), -highest, highest, 255)

    def linear(self, x: openvino.Node, weights: Weights) -> openvino.Node:
        product = ops.matmul(x, ops.constant(weights["weight"]), False, True)
        return ops.add(product, ops.constant(weights["bias"].reshape(1, -1)))

    def layer_norm(self, x: openvino.Node, weights: Weights) -> openvino.Node:
        normal = ops.mvn(x, ops.constant(np.array([-1])), True, 1e-5, "inside_sqrt")
        scaled = ops.multiply(normal, ops.constant(weights["weight"].reshape(1, -1)))
        return ops.add(scaled, ops.constant(weights["bias"].reshape(1, -1)))

    def relu(self, x: openvino.Node) -> openvino.Node:
        return ops.relu(x)

    def sigmoid(self, x: openvino.Node) -> openvino.Node:
        return ops.sigmoid(x)

    def add(self, x: openvino.Node, y: openvino.Node) -> openvino.Node:
        return ops.add(x, y)

    def multiply(self, x: openvino.Node, y: openvino.Node) -> openvino.Node:
        return ops.multiply(x, y)

    def split(self, x: openvino.Node, sizes: Sequence[int]) -> Sequence[openvino.Node]:
        is_even = len(set(sizes)) == 1  # only for games of old runs: the other operation may round otherwise
        return (ops.split(x, 1, len(sizes)) if is_even else ops.variadic_split(x, 1, list(sizes))).outputs()

    def join(self, parts: Sequence[openvino.Node]) -> openvino.Node:
        return ops.concat(list(parts), 1)

    def take(self, x: openvino.Node, columns: np.ndarray) -> openvino.Node:
        return ops.gather(x, ops.constant(columns), ops.constant(np.int64(1)))

    def mean_of_board(self, x: openvino.Node) -> openvino.Node:
        return ops.reduce_mean(x, _BOARD, False)

    def peak_of_board(self, x: openvino.Node) -> openvino.Node:
        return ops.reduce_max(x, _BOARD, False)

    def on_board(self, x: openvino.Node) -> openvino.Node:
        return ops.unsqueeze(x, _BOARD)

    def flat(self, x: openvino.Node) -> openvino.Node:
        return ops.reshape(x, ops.constant(np.array([self._rows, -1])), False)

    def cells(self, x: openvino.Node) -> openvino.Node:
        return ops.squeeze(x, ops.constant(np.array([1])))


def _in_steps(x: openvino.Node, low: np.ndarray, high: np.ndarray | np.float32, num_steps: int) -> openvino.Node:
    return ops.fake_quantize(x, *(ops.constant(each) for each in (low, high, low, high)), num_steps)


def _compile(model: openvino.Model, precision: str, num_threads: int) -> openvino.CompiledModel:
    """Compiles a model for passes of one thread each. Threads are not pinned to cores."""
    settings = {
        "INFERENCE_PRECISION_HINT": precision,
        "INFERENCE_NUM_THREADS": num_threads,
        "NUM_STREAMS": num_threads,
        "ENABLE_CPU_PINNING": False,
    }
    return _core().compile_model(model, "CPU", settings)


@functools.cache
def _core() -> openvino.Core:
    """Returns OpenVINO's core object, one per process.

    Each core installs a stack for signal handlers and removes one when it is destroyed. After the end of several cores
    no stack is left, and Ctrl-C crashes (OpenVINO 2026.4).
    """
    return openvino.Core()
