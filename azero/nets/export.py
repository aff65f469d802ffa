"""`azero export`: writes a checkpoint's net as an ONNX model, and checks the model before it is written.

The model has a free batch size. In int8, pairs of QuantizeLinear and DequantizeLinear say where a program may compute
with integers. The kernels between them are stored in int8. A user's net is traced by torch's exporter, which makes the
model of the operations that its `forward` calls.
"""

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from azero.compiler.cache import cache_directory
from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.games.names import without_folder
from azero.heads import HEADS
from azero.nets.architectures.contract import Net, fold
from azero.nets.architectures.drawing import Drawing, int8_is_for
from azero.nets.architectures.heads import run_heads
from azero.nets.checkpoint import Checkpoint
from azero.nets.graphs.graph import Graph
from azero.nets.graphs.weights import Weights
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.runtimes.fastest import TOLERANCE, measure_drift
from azero.nets.runtimes.pytorch.session import open_heads
from azero.nets.users_net import UsersNet
from azero.system.files import write_whole
from azero.system.machine import keep_torch_files


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


def trace_onnx(net: UsersNet, opset: int) -> onnx.ModelProto:
    """Returns a user's net as an ONNX model with a free batch size; raises BadInput if that is impossible."""
    keep_torch_files(cache_directory())
    module = _Composed(fold(net))
    planes = torch.zeros(2, *net.game.planes_shape)  # of one row, torch would take the size for a constant
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    try:
        logger.setLevel(logging.ERROR)  # it notes packages that are not installed
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                module,
                (planes,),
                dynamo=True,
                input_names=["planes"],
                output_names=["policy_logits", "result_logits", *net.kept],
                dynamic_shapes={"planes": {0: torch.export.Dim("batch")}},
                opset_version=opset,
                verbose=False,
            )
    except Exception as error:  # of many kinds
        raise BadInput(f"net {net.name} cannot be written as ONNX: {_cause(error)}") from None
    finally:
        logger.setLevel(level)
    assert program is not None, "no file was named"
    model = program.model_proto
    if not model.graph.input[0].type.tensor_type.shape.dim[0].dim_param:
        raise BadInput(
            f"net {net.name} cannot be written as ONNX: it takes the number of positions for a constant; "
            "write planes.shape[0] instead of len(planes)"
        )
    return _without_traces(model)


class _Composed(torch.nn.Module):
    """A user's module as azero calls it, without checks: they read sizes, which would not stay free."""

    def __init__(self, net: Net):
        super().__init__()
        assert isinstance(net, UsersNet)
        self.module, self.has_features = net.module, net.has_features
        self.kept, self.game = net.kept, net.game

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, ...]:
        module: Any = self.module
        if not self.has_features:
            return tuple(module(planes))
        features = module.features(planes)
        return *module.judge(features), *run_heads(self.kept, self.game, features).values()


def _cause(error: BaseException) -> str:
    """Returns the first line of the error behind those of torch's exporter."""
    while error.__cause__ is not None:
        error = error.__cause__
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _without_traces(model: onnx.ModelProto) -> onnx.ModelProto:
    """Removes the notes about each operation: they have the user's source lines and paths."""
    graph = model.graph
    for each in (model, graph, *graph.node, *graph.input, *graph.output, *graph.initializer, *graph.value_info):
        del each.metadata_props[:]
        each.doc_string = ""
    for function in model.functions:
        for each in (function, *function.node, *function.value_info):
            del each.metadata_props[:]
            each.doc_string = ""
    return model


OPSETS = range(19, 25)
"""The versions of ONNX's operations that models can have. The first runs in the most programs."""

PRECISIONS = ("fp32", "int8")

_TOLERANCES = {"fp32": 1e-3, "int8": TOLERANCE}  # of `_drift_of`
_CHECKED = 32  # positions on which the model is compared with the net


@dataclass(frozen=True)
class Exported:
    """What was written. The fields are those of `--json`."""

    file: str
    game: str
    precision: str
    opset: int
    bytes: int
    planes_shape: tuple[int, int, int]
    num_actions: int
    heads: list[str]  # the kept heads, which are further outputs
    drift: float  # from fp32, see `_drift_of`

    def to_json(self) -> dict:
        """Returns the object that `azero export --json` prints."""
        return asdict(self)


def export_onnx(
    checkpoint: Checkpoint, path: Path, version: str, precision: str = "fp32", opset: int = OPSETS[0]
) -> Exported:
    """Writes a checkpoint's net as an ONNX model, atomically. A file of that name is replaced.

    The input is `planes` [batch, C, H, W]; the outputs are `policy_logits` [batch, A] and `result_logits` [batch, 3],
    of win, draw and loss for the player to move; all float32. The heads that the net keeps are further outputs, see
    `Head.meaning`. The batch size is free.

    Args:
      version: azero's, for the model's metadata.

    Raises BadInput if the net cannot be written with that precision, or if the model's outputs differ from the net's.
    """
    net, game = checkpoint.net, checkpoint.game
    model = _model_of(checkpoint, precision, opset)
    _describe(model, checkpoint, precision, version)
    onnx.checker.check_model(model, full_check=True)
    try:
        drift = _drift_of(model, net)
    except Exception as error:  # of many kinds, from ONNX's evaluator
        raise BadInput(f"{str(path)!r} is not written: the model fails with {type(error).__name__}: {error}") from None
    if not drift <= _TOLERANCES[precision]:
        raise BadInput(
            f"{str(path)!r} is not written: the model is {drift:.2g} from the net in fp32, more than "
            f"{_TOLERANCES[precision]}"
        )
    data = model.SerializeToString(deterministic=True)
    write_whole(path, data)
    sizes = len(data), game.planes_shape, game.num_actions
    return Exported(str(path), str(game), precision, opset, *sizes, [*net.kept], drift)


def _drift_of(model: onnx.ModelProto, net: Net) -> float:
    """Returns the greatest of `measure_drift` and the mean errors of the heads, in their units (`Head.unit`)."""
    reference, positions = _Reference(model), sample_positions(net.game)[:_CHECKED]
    drifts = [measure_drift(net, reference, _CHECKED, _CHECKED)]
    for name, answers in open_heads(net, DeviceConfig(device="cpu"))(positions).items():
        errors = np.abs(reference.output(name, positions) - answers)
        drifts.append(float(errors.mean()) / HEADS[name].unit(net.game))
    return float(np.max(drifts))  # NaN if any is NaN


def _model_of(checkpoint: Checkpoint, precision: str, opset: int) -> onnx.ModelProto:
    net = checkpoint.net
    if precision == "int8" and not net.is_quantizable:
        raise BadInput(f"{int8_is_for()}; export this net with --precision fp32")
    if isinstance(net, UsersNet):
        return trace_onnx(net, opset)
    drawing = net.drawing()
    assert drawing is not None, "each net of azero's has a drawing"
    peaks = measure_peaks(drawing, opset, sample_positions(net.game)) if precision == "int8" else None
    return drawing.on(OnnxGraph(opset, peaks), has_heads=True)


def _describe(model: onnx.ModelProto, checkpoint: Checkpoint, precision: str, version: str) -> None:
    """Adds metadata from which a stranger can use the model. They depend on no time and name no folder."""
    card, game = checkpoint.card, without_folder(checkpoint.card.game)
    model.producer_name, model.producer_version = "azero", version
    model.doc_string = (
        f"A net for {game}: planes of positions to the logits of all actions, and of win, draw and loss for the "
        "player to move. Give illegal actions the probability 0. Win less loss is the value; the three numbers are no "
        "probabilities."
    )
    properties = {
        "game": game,
        "results": "win,draw,loss",
        "precision": precision,
        "net": without_folder(card.origin_of_net.name),
        "checkpoint": checkpoint.digest,
        "iteration": str(card.iteration),
        "azero": version,
    }
    if heads := [*checkpoint.net.kept]:
        model.doc_string += " " + " ".join(f"{name} is {HEADS[name].meaning}." for name in heads)
        properties["heads"] = ",".join(heads)
    helper.set_model_props(model, properties)


class _Reference:
    """The model, run by ONNX's own evaluator: slow, but without another package."""

    def __init__(self, model: onnx.ModelProto):
        self._evaluator = ReferenceEvaluator(model)

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B] of planes [B, C, H, W] float32."""
        logits, results = self._run(["policy_logits", "result_logits"], planes)
        likelihoods = np.exp(results - results.max(axis=1, keepdims=True))
        return logits, (likelihoods[:, 0] - likelihoods[:, 2]) / likelihoods.sum(axis=1)

    def output(self, name: str, planes: np.ndarray) -> np.ndarray:
        """Returns the output of that name."""
        return self._run([name], planes)[0]

    def _run(self, names: list[str], planes: np.ndarray) -> list[np.ndarray]:
        with np.errstate(all="ignore"):  # infinite intermediate results are no news: the outputs are compared
            return self._evaluator.run(names, {"planes": planes})
