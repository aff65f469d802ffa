"""The net run by OpenVINO, the fastest runtime on a CPU, in fp32, bf16 or int8.

int8: the convolutions of the residual blocks compute with integers. Their input activations, which are never negative,
are quantized to 256 steps from 0 to their peak over `sample_positions`. Weights are quantized to 255 steps around 0,
with one scale per output channel. Skip connections, global context, input and heads keep their precision: they cost
little time, and errors there matter more.

By default `import openvino` sends an event with a client id through the package `openvino_telemetry`, and stores that
id in the home folder. If the package cannot be imported, OpenVINO uses a stub that does neither. Only this module
imports openvino.
"""

import functools
import math
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from azero.nets.architectures.any_size import AnySizeTower, size_factor
from azero.nets.architectures.contract import Net, fold
from azero.nets.architectures.tower import Tower
from azero.nets.runtimes.calibration import sample_positions

sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # blocks its import

import openvino  # noqa: E402
from openvino import opset13 as ops  # noqa: E402

_BOARD = [2, 3]  # the board's dimensions


class OpenVinoSession:
    """A net ready to run: passes of `rows` rows, one thread each, up to `num_threads` side by side."""

    def __init__(self, net: Net, precision: str, rows: int, num_threads: int):
        folded = fold(net).float().cpu()
        if isinstance(folded, Tower):
            model, _ = build_model(folded, rows, measure_peaks(folded) if precision == "int8" else None)
        else:
            model = _traced(folded, rows)
        self._compiled = _compile(model, "f32" if precision == "fp32" else "bf16", num_threads)
        self._own = threading.local()

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32; B must be `rows`."""
        if not hasattr(self._own, "request"):
            self._own.request = self._compiled.create_infer_request()
            self._own.planes = np.empty(tuple(self._compiled.input(0).shape), np.float32)
            self._own.request.set_input_tensor(openvino.Tensor(self._own.planes, shared_memory=True))
        np.copyto(self._own.planes, planes)
        self._own.request.infer()
        logits, results = (self._own.request.get_output_tensor(k).data for k in range(2))
        likelihoods = np.exp(results - results.max(axis=1, keepdims=True))
        return logits.copy(), (likelihoods[:, 0] - likelihoods[:, 2]) / likelihoods.sum(axis=1)


def supported_precisions() -> tuple[str, ...]:
    """Returns the precisions that OpenVINO supports on this CPU, in ascending order of speed."""
    capabilities = _core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    return tuple(each for each in ("fp32", "bf16", "int8") if each.upper() in capabilities)


def measure_peaks(folded: Tower) -> list[float]:
    """Returns the maximum over `sample_positions` of each activation that `build_model` quantizes."""
    positions = sample_positions(folded.game)
    model, activations = build_model(folded, len(positions))
    taps = openvino.Model([ops.result(each) for each in activations], model.get_parameters())
    answer = _compile(taps, "f32", num_threads=1)(positions)
    return [max(float(values.max()), 1e-6) for values in answer.values()]


def build_model(
    folded: Tower, rows: int, peaks: Sequence[float] | None = None
) -> tuple[openvino.Model, list[openvino.Node]]:
    """Returns a folded net as an OpenVINO model, and the activations that are quantized if `peaks` are given."""
    graph = _Graph(peaks)
    planes = ops.parameter([rows, *folded.game.planes_shape], np.float32, name="planes")
    x = ops.relu(graph.convolution(planes, folded.stem))
    for block in folded.blocks:
        y = graph.convolution(graph.quantized(x), block.first, is_quantized=True)
        y = ops.relu(graph.pooling_bias(y, block.pooling) if block.pooling else y)
        y = graph.convolution(graph.quantized(y), block.second, is_quantized=True)
        x = ops.relu(ops.add(x, graph.excitation(y, block.excitation) if block.excitation else y))
    heads = _heads_of_any_size if isinstance(folded, AnySizeTower) else _heads
    answers = heads(graph, x, folded, rows)
    return openvino.Model([ops.result(each) for each in answers], [planes]), graph.activations


def _heads(graph: "_Graph", x: openvino.Node, folded: Any, rows: int) -> list[openvino.Node]:
    """Returns the logits of actions and of results, of a tower's features."""
    policy = graph.flat(ops.relu(graph.convolution(x, folded.policy_features)), rows)
    value = graph.flat(ops.relu(graph.convolution(x, folded.value_features)), rows)
    hidden = ops.relu(graph.linear(value, folded.value_hidden))
    return [graph.linear(policy, folded.policy), graph.linear(hidden, folded.results)]


def _heads_of_any_size(graph: "_Graph", x: openvino.Node, folded: Any, rows: int) -> list[openvino.Node]:
    """As `_heads`, for a tower with heads for all sizes."""
    context = graph.pooled(ops.relu(graph.convolution(x, folded.policy_context)))
    bias = _on_board(graph.linear(context, folded.policy_bias))
    policy = ops.relu(ops.add(graph.convolution(x, folded.policy_features), bias))
    logits = graph.flat(graph.convolution(policy, folded.policy), rows)
    if folded.slots:
        logits = ops.concat([logits, graph.linear(context, folded.slots)], 1)
    if folded.numbers is not None:
        logits = ops.gather(logits, ops.constant(folded.numbers.numpy()), ops.constant(np.int64(1)))
    value = graph.pooled(ops.relu(graph.convolution(x, folded.value_features)))
    hidden = ops.relu(graph.linear(value, folded.value_hidden))
    return [logits, graph.linear(hidden, folded.results)]


def _traced(folded: Net, rows: int) -> openvino.Model:
    """Returns any net as an OpenVINO model, by a trace of its operations; raises RuntimeError if it has others."""
    planes = torch.zeros(rows, *folded.game.planes_shape)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # a trace notes each decision that depends on shapes
            traced = torch.jit.trace(_Untyped(folded), planes, check_trace=False)
            return openvino.convert_model(traced, example_input=planes, input=[list(planes.shape)])
    except Exception as error:  # of many kinds
        raise RuntimeError(str(error).strip() or type(error).__name__) from None


class _Untyped(torch.nn.Module):
    """A net whose output is a plain tuple."""

    def __init__(self, net: Net):
        super().__init__()
        self.net = net

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        prediction = self.net(planes)
        return prediction.policy_logits, prediction.result_logits


class _Graph:
    """Translates the layers of a folded net into OpenVINO operations."""

    def __init__(self, peaks: Sequence[float] | None):
        self._peaks = peaks
        self.activations: list[openvino.Node] = []  # the arguments of `quantized`, in order

    def quantized(self, x: openvino.Node) -> openvino.Node:
        """Returns an activation, quantized in steps from 0 to its peak; unchanged if there are no peaks."""
        self.activations.append(x)
        if self._peaks is None:
            return x
        return _in_steps(x, np.zeros((), np.float32), np.float32(self._peaks[len(self.activations) - 1]), 256)

    def convolution(self, x: openvino.Node, layer: Any, is_quantized: bool = False) -> openvino.Node:
        layer = getattr(layer, "convolution", layer)
        weight = layer.weight.numpy()
        kernel = ops.constant(weight)
        if is_quantized and self._peaks is not None:
            highest = np.abs(weight).max(axis=(1, 2, 3), keepdims=True).clip(1e-8)
            kernel = _in_steps(kernel, -highest, highest, 255)
        padding = list(layer.padding)
        y = ops.convolution(x, kernel, [1, 1], padding, padding, [1, 1])
        return ops.add(y, ops.constant(layer.bias.numpy().reshape(1, -1, 1, 1)))

    def linear(self, x: openvino.Node, layer: Any) -> openvino.Node:
        product = ops.matmul(x, ops.constant(layer.weight.numpy()), False, True)
        return ops.add(product, ops.constant(layer.bias.numpy().reshape(1, -1)))

    def excitation(self, x: openvino.Node, layer: Any) -> openvino.Node:
        hidden = ops.relu(self.linear(ops.reduce_mean(x, _BOARD, False), layer.squeeze))
        excited = _on_board(self.linear(hidden, layer.excite))
        scale, *bias = ops.split(excited, 1, layer.excite.out_features // layer.channels).outputs()
        y = ops.multiply(ops.sigmoid(scale), x)
        return ops.add(y, bias[0]) if bias else y

    def pooling_bias(self, x: openvino.Node, layer: Any) -> openvino.Node:
        pooled, kept = ops.variadic_split(x, 1, [layer.pooled, layer.kept]).outputs()
        pooled = ops.relu(pooled)
        summary = ops.concat([ops.reduce_mean(pooled, _BOARD, False), ops.reduce_max(pooled, _BOARD, False)], 1)
        return ops.add(kept, _on_board(self.linear(summary, layer.bias)))

    def pooled(self, x: openvino.Node) -> openvino.Node:
        mean, factor = ops.reduce_mean(x, _BOARD, False), size_factor(math.prod(list(x.shape)[2:]) ** 0.5)
        return ops.concat(
            [mean, ops.multiply(mean, ops.constant(np.float32(factor))), ops.reduce_max(x, _BOARD, False)], 1
        )

    def flat(self, x: openvino.Node, rows: int) -> openvino.Node:
        return ops.reshape(x, ops.constant(np.array([rows, -1])), False)


def _on_board(x: openvino.Node) -> openvino.Node:
    """Returns values per channel, [rows, C], as [rows, C, 1, 1]."""
    return ops.unsqueeze(x, _BOARD)


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
