"""A net as an ONNX model with a free batch size.

In int8, pairs of QuantizeLinear and DequantizeLinear say where a program may compute with integers. The kernels between
them are stored in int8.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from azero.nets.graphs.graph import Graph
from azero.nets.graphs.registry import Drawing
from azero.nets.graphs.weights import Weights


class OnnxGraph(Graph):
    """A net as an ONNX model. A node is the name of its result."""

    def __init__(self, opset: int, peaks: Sequence[float] | None = None):
        super().__init__(peaks)
        self._opset = helper.make_opsetid("", opset)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def planes(self, shape: tuple[int, ...]) -> str:
        self._input = helper.make_tensor_value_info("planes", onnx.TensorProto.FLOAT, ["batch", *shape])
        return "planes"

    def finished(self, outputs: Mapping[str, str]) -> onnx.ModelProto:
        infos = []
        for name, found in outputs.items():
            self._nodes.append(helper.make_node("Identity", [found], [name], name))
            infos.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
        graph = helper.make_graph(self._nodes, "azero", [self._input], infos, self._constants)
        version = helper.find_min_ir_version_for([self._opset])
        model = helper.make_model(graph, opset_imports=[self._opset], ir_version=version)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True)

    def _add(self, operation: str, *inputs: str, outputs: int = 1, **attributes: object) -> list[str]:
        name = f"{operation}_{len(self._nodes)}"
        found = [f"{name}_{k}" for k in range(outputs)]
        self._nodes.append(helper.make_node(operation, inputs, found, name, **attributes))
        return found

    def _constant(self, array: np.ndarray) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _convolution(self, x: str, kernel: str, bias: np.ndarray, padding: int) -> str:
        return self._add("Conv", x, kernel, self._constant(bias), pads=[padding] * 4)[0]

    def _activation_in_steps(self, x: str, peak: np.float32) -> str:
        steps = self._constant(np.asarray(peak / np.float32(255))), self._constant(np.zeros((), np.uint8))
        (quantized,) = self._add("QuantizeLinear", x, *steps)
        return self._add("DequantizeLinear", quantized, *steps)[0]

    def _kernel_in_steps(self, kernel: np.ndarray, highest: np.ndarray) -> str:
        scale = highest / np.float32(127)
        quantized = np.rint(kernel / scale).astype(np.int8)
        steps = self._constant(scale.reshape(-1)), self._constant(np.zeros(len(kernel), np.int8))
        return self._add("DequantizeLinear", self._constant(quantized), *steps, axis=0)[0]

    def linear(self, x: str, weights: Weights) -> str:
        return self._add("Gemm", x, self._constant(weights["weight"]), self._constant(weights["bias"]), transB=1)[0]

    def layer_norm(self, x: str, weights: Weights) -> str:
        scale, bias = self._constant(weights["weight"]), self._constant(weights["bias"])
        return self._add("LayerNormalization", x, scale, bias, epsilon=1e-5)[0]

    def relu(self, x: str) -> str:
        return self._add("Relu", x)[0]

    def sigmoid(self, x: str) -> str:
        return self._add("Sigmoid", x)[0]

    def add(self, x: str, y: str) -> str:
        return self._add("Add", x, y)[0]

    def multiply(self, x: str, y: str) -> str:
        return self._add("Mul", x, y)[0]

    def split(self, x: str, sizes: Sequence[int]) -> list[str]:
        if len(sizes) == 1:
            return [x]
        return self._add("Split", x, self._constant(np.array(sizes)), outputs=len(sizes), axis=1)

    def join(self, parts: Sequence[str]) -> str:
        return self._add("Concat", *parts, axis=1)[0]

    def take(self, x: str, columns: np.ndarray) -> str:
        return self._add("Gather", x, self._constant(columns), axis=1)[0]

    def mean_of_board(self, x: str) -> str:
        return self.flat(self._add("GlobalAveragePool", x)[0])

    def peak_of_board(self, x: str) -> str:
        return self.flat(self._add("GlobalMaxPool", x)[0])

    def on_board(self, x: str) -> str:
        return self._add("Unsqueeze", x, self._constant(np.array([2, 3])))[0]

    def flat(self, x: str) -> str:
        return self._add("Flatten", x, axis=1)[0]

    def cells(self, x: str) -> str:
        return self._add("Squeeze", x, self._constant(np.array([1])))[0]


def measure_peaks(drawing: Drawing, opset: int, positions: np.ndarray) -> list[float]:
    """Returns the maximum over positions, planes [B, C, H, W], of each activation that int8 quantizes, in order."""
    graph = OnnxGraph(opset)
    model = drawing.on(graph)
    answer = ReferenceEvaluator(model).run(graph.activations, {"planes": positions})
    return [max(float(values.max()), 1e-6) for values in answer]
