"""The net of a checkpoint, opened without torch where another library runs it. To import torch takes a second.

A net of azero's is drawn as a graph of its weights. The first time on this machine, the weights are compared with the
net's shape, runtimes are measured, and the fastest is compared with fp32. The result is kept in the cache folder,
under a digest of everything that it depends on. It is the runtime, and the peaks of activations that int8 needs. The
next time, it runs the same graph of the same weights, so the outputs have the same bits. Files with the same weights
share it: a candidate is measured once, before its gate, and not again when it is promoted. A run sends it to its
workers.
"""

import functools
import hashlib
import importlib.util
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from azero.compiler.cache import cache_root, digest_of_sources
from azero.config.schema import DeviceConfig
from azero.games import Game
from azero.games.names import source_digest_of
from azero.nets.architectures.drawing import ARCHITECTURES, Drawing, drawing_of
from azero.nets.checkpoint_file import CheckpointFile, read_checkpoint
from azero.nets.devices import device_type
from azero.nets.evaluator import NetEvaluator
from azero.nets.runtimes.fastest import open_runtime
from azero.nets.runtimes.library import LIBRARIES, Runnable
from azero.nets.runtimes.session import Heads, Runtime, SessionEvaluator
from azero.system.files import PACKAGE, read_regular, write_whole
from azero.system.machine import cpu_flags, cpu_name
from azero.system.tensor_files import Tensors

if TYPE_CHECKING:
    from azero.nets.architectures.contract import Net

_WITHOUT_TORCH = "openvino", "winograd"
_NUM_KEPT = 64  # checkpoints
_LARGEST = 1 << 16  # bytes of a file
_HUGE = 1e6  # a weight; torch says whether such a net has finite outputs


class Known(NamedTuple):
    """What is known of a checkpoint on this machine."""

    library: str  # one that needs no torch
    precision: str
    peaks: list[float] | None  # of the activations that int8 quantizes


def known_of(path: Path, game: Game, config: DeviceConfig) -> Known | None:
    """Returns what is known of a checkpoint for `game`, measured now if nothing was; None if only torch runs it.

    Raises BadInput if the file cannot be read, or its weights do not fit.
    """
    file = read_checkpoint(path, game)
    if not _may_be_known(file, config):
        return None
    net = QuickNet(file, config)
    if net.known is None:
        net.evaluator(1, 1)
    return net.known


def open_known(
    known: Known, name: str, weights: Tensors, game: Game, rows: int, num_threads: int
) -> SessionEvaluator | None:
    """Returns an evaluator of a net's weights, of which something is known; None if it cannot be opened here.

    Args:
      name: the kind of net, as in the settings.
    """
    drawing = drawing_of(name, weights, game)
    if drawing is None:
        return None
    drawing.peaks = known.peaks
    return _evaluator_of(_Drawn(game, drawing), known, rows, num_threads)


@dataclass
class _Drawn:
    """A drawing, as a `Runnable` for libraries that need no torch."""

    game: Game
    own: Drawing

    def drawing(self) -> Drawing:
        return self.own

    @property
    def torch_net(self) -> "Net":
        raise RuntimeError("there are only weights")


def _evaluator_of(net: Runnable, known: Known, rows: int, num_threads: int) -> SessionEvaluator | None:
    """Returns an evaluator of a net, of which something is known; None if it cannot be opened here."""
    runtime = Runtime(known.library, known.precision)
    with suppress(RuntimeError, ImportError):
        session = open_runtime(runtime, net, "cpu", rows, num_threads)
        return SessionEvaluator(runtime, session, rows, num_threads, not LIBRARIES[runtime.library].takes_any_rows)
    return None


class QuickNet:
    """The net of a checkpoint, a `Runnable`. Raises BadInput if the weights do not fit it.

    Attributes:
      known: what is known of it; None until `evaluator` has measured it, or if it cannot be kept.
    """

    def __init__(self, file: CheckpointFile, config: DeviceConfig):
        self.game = file.game
        self._file, self._config = file, config
        self._path = _path_of(file, config) if _may_be_known(file, config) else None
        self.known: Known | None = _read(self._path) if self._path else None
        if self.known is None and not (self._path and _fits(file) and self._has_finite_outputs()):
            self.torch_net  # noqa: B018, it says what is wrong
        file.warn_of_change()

    @functools.cached_property
    def torch_net(self) -> "Net":
        """The net in torch, which is imported."""
        from azero.nets.checkpoint import load_net

        return load_net(self._file).net

    def drawing(self) -> Drawing | None:
        """Returns the drawing of a net of azero's, always the same one; None for a user's net."""
        return self._drawing

    @functools.cached_property
    def _drawing(self) -> Drawing | None:
        drawing = drawing_of(self._file.config.name, self._file.weights, self.game)
        if drawing and self.known:
            drawing.peaks = self.known.peaks
        return drawing

    def _has_finite_outputs(self) -> bool:
        """Returns whether OpenVINO runs the net, and its outputs are clearly finite; see `checkpoint.check_finite`.

        OpenVINO's relu of NaN is 0, so what is not finite within the net might not show.
        """
        with suppress(RuntimeError, ImportError), np.errstate(all="ignore"):
            drawing = self.drawing()
            assert drawing, "it may be known"
            if not all((np.abs(each) < _HUGE).all() for each in drawing.weights.arrays.values()):
                return False
            session = open_runtime(Runtime("openvino", "fp32"), self, "cpu", 1, 1)
            outputs = session.run(np.ones((1, *self.game.planes_shape), np.float32))
            return all(np.isfinite(each).all() for each in outputs)
        return False

    def compile(self) -> None:
        """Compiles azero's own kernels for nets, if they may run this one."""
        drawing, wanted = self.drawing(), self.known.library if self.known else self._config.runtime
        if drawing and wanted in ("auto", "winograd") and device_type(self._config.device) == "cpu":
            with suppress(RuntimeError):
                session = open_runtime(Runtime("winograd", "fp32"), self, "cpu", 1, 1)
                session.run(np.zeros((1, *self.game.planes_shape), np.float32))

    def evaluator(self, rows: int, num_threads: int) -> SessionEvaluator:
        """Returns an evaluator with passes of `rows` rows, in the fastest runtime that is near enough to fp32."""
        if self.known and (evaluator := _evaluator_of(self, self.known, rows, num_threads)):
            return evaluator  # else the choice below says what fails, and uses another runtime
        evaluator = NetEvaluator(self, self._config, rows, num_threads)
        self._remember(evaluator.runtime)
        return evaluator

    def judge_alone(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the net's logits in fp32 for planes [B, C, H, W]: [B, A] of actions, [B, 3] of win, draw, loss."""
        return self._alone(planes)

    @functools.cached_property
    def _alone(self) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """The net in fp32: run by OpenVINO if it runs the net, so that nobody waits for torch."""
        if self.known and self._drawing:
            with suppress(RuntimeError, ImportError):
                from azero.nets.runtimes.openvino import session

                return session.open_alone(self._drawing)
        from azero.nets.runtimes.pytorch.session import judge_alone

        return functools.partial(judge_alone, self.torch_net, self._config)

    def heads_alone(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """Returns the answers of the net's kept heads for a position's planes [1, C, H, W], in fp32; see `Heads`."""
        return self._heads(planes)

    @functools.cached_property
    def _heads(self) -> Heads:
        """The kept heads: run by OpenVINO if it runs the net, so that they have the same bits each time."""
        if self.known and self._drawing:
            with suppress(RuntimeError, ImportError):
                from azero.nets.runtimes.openvino import session

                return session.open_heads(self._drawing)
        from azero.nets.runtimes.pytorch.session import open_heads

        return open_heads(self.torch_net, self._config)

    def _remember(self, runtime: Runtime) -> None:
        """Keeps what runs the net, unless it is torch, or the settings ask for something else."""
        library, precision = runtime
        if self._path is None or library not in _WITHOUT_TORCH or self._config.precision not in ("auto", precision):
            return
        self.known = Known(library, precision, self._drawing.peaks if self._drawing else None)
        _write(self._path, self.known)


def _may_be_known(file: CheckpointFile, config: DeviceConfig) -> bool:
    """Returns whether a net of azero's may run here without torch. OpenVINO looks at it first."""
    if file.config.name not in ARCHITECTURES or config.runtime not in ("auto", *_WITHOUT_TORCH):
        return False
    return importlib.util.find_spec("openvino") is not None and device_type(config.device) == "cpu"


def _fits(file: CheckpointFile) -> bool:
    """Returns whether the weights fit the net by name, shape and dtype. Of nets with heads, only torch can say so."""
    wanted = ARCHITECTURES[file.config.name].shapes(file.config, file.game)
    shapes = {name: array.shape for name, array in file.weights.items()}
    kinds = all(array.dtype == (np.float32 if array.ndim else np.int64) for array in file.weights.values())
    return shapes == wanted and kinds and not file.config.heads


def _path_of(file: CheckpointFile, config: DeviceConfig) -> Path:
    """Returns the file of what is known. Its name is a digest of all that this depends on."""
    sources = hashlib.sha256()
    for folder in ("heads", "nets"):
        for each in sorted((PACKAGE / folder).rglob("*.py")):
            sources.update(each.read_bytes())
    versions = [version(each) for each in ("torch", "openvino")]
    settings = config.device, config.runtime, config.precision
    game = str(file.game), source_digest_of(file.game.rules)
    weights = hashlib.sha256()
    for name, array in sorted(file.weights.items()):
        weights.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    what = (
        weights.hexdigest(),
        file.config.model_dump_json(),
        game,
        settings,
        versions,
        digest_of_sources(),
        cpu_name(),
        sorted(cpu_flags()),
        sources.hexdigest(),
    )
    return cache_root() / "nets" / f"{hashlib.sha256(repr(what).encode()).hexdigest()[:32]}.json"


def _read(path: Path) -> Known | None:
    """Returns what a file says; None if there is none, or if it is damaged."""
    with suppress(OSError, ValueError, TypeError, RecursionError):
        digest, _, text = read_regular(path, _LARGEST).partition(b"\n")
        known = Known(**json.loads(text)) if digest == _digest_of(text) else None
        return known if known and _is_whole(known) else None
    return None


def _is_whole(known: Known) -> bool:
    """Returns whether the library has the precision, and peaks are positive finite numbers; int8 needs them."""
    library, precision, peaks = known
    has_peaks = isinstance(peaks, list) and all(isinstance(each, float) and 0 < each < inf for each in peaks)
    if library not in _WITHOUT_TORCH or (library == "winograd" and precision != "fp32"):
        return False
    return precision in ("fp32", "bf16") or (precision == "int8" and has_peaks)


def _write(path: Path, known: Known) -> None:
    text = json.dumps(known._asdict()).encode()
    with suppress(OSError):
        write_whole(path, _digest_of(text) + b"\n" + text)
        _remove_old(path.parent)


def _digest_of(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()


def _remove_old(folder: Path) -> None:
    """Removes all but the newest files."""
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for path in files[:-_NUM_KEPT]:
        path.unlink(missing_ok=True)
