"""`azero export`: writes a checkpoint's net as an ONNX model, and checks the model before it is written."""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.games.names import without_folder
from azero.nets.alone import open_heads
from azero.nets.architectures.contract import Net
from azero.nets.architectures.heads import KEPT
from azero.nets.architectures.registry import drawing_of_net
from azero.nets.checkpoint import Checkpoint
from azero.nets.export.onnx_graph import OnnxGraph, measure_peaks
from azero.nets.export.traced import trace_onnx
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.runtimes.choice import TOLERANCE, measure_drift
from azero.nets.users_net import UsersNet
from azero.system.files import write_whole

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
    `KEPT`. The batch size is free.

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
    """Returns the greatest of `measure_drift` and the mean absolute errors of the heads, in their units (`KEPT`)."""
    reference, positions = _Reference(model), sample_positions(net.game)[:_CHECKED]
    drifts = [measure_drift(net, reference, _CHECKED, _CHECKED)]
    for name, answers in open_heads(net, DeviceConfig(device="cpu"))(positions).items():
        errors = np.abs(reference.output(name, positions) - answers)
        drifts.append(float(errors.mean()) / KEPT[name].unit(net.game))
    return float(np.max(drifts))  # NaN if any is NaN


def _model_of(checkpoint: Checkpoint, precision: str, opset: int) -> onnx.ModelProto:
    net = checkpoint.net
    if precision == "int8" and not net.is_quantizable:
        raise BadInput("precision 'int8' is for net.name = tower or any_size; export this net with --precision fp32")
    if isinstance(net, UsersNet):
        return trace_onnx(net, opset)
    drawing = drawing_of_net(net)
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
        model.doc_string += " " + " ".join(f"{name} is {KEPT[name].meaning}." for name in heads)
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
