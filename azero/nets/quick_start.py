"""The net of a checkpoint, opened without torch if this machine has opened it before. To import torch takes a second.

The first time, the net is opened with torch: its weights are compared with its shape, runtimes are measured, and the
fastest is compared with fp32. The result is kept in the cache folder, under a digest of everything that it depends on.
It is the precision that OpenVINO has for a number of rows, and the peaks of activations that int8 needs. The next time,
OpenVINO runs the same graph of the same weights, so the outputs have the same bits.
"""

import functools
import hashlib
import importlib.util
import json
import sys
from contextlib import suppress
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from azero.compiler.cache import cache_root, digest_of_sources
from azero.config.schema import DeviceConfig
from azero.games.names import source_digest_of
from azero.nets.architectures.drawing import ARCHITECTURES, Drawing, drawing_of
from azero.nets.checkpoint_file import CheckpointFile
from azero.nets.runtimes.session import Heads, Runtime, SessionEvaluator
from azero.system.files import PACKAGE, read_regular, write_whole
from azero.system.machine import cpu_flags, cpu_name

if TYPE_CHECKING:
    from azero.nets.architectures.contract import Net

_NUM_KEPT = 64  # checkpoints
_LARGEST = 1 << 16  # bytes of a file
_GPU_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")  # of NVIDIA's driver, AMD's, and Windows' for Linux


class Known(NamedTuple):
    """What is known of a checkpoint on this machine."""

    precisions: dict[str, str]  # OpenVINO's, by the number of rows
    peaks: list[float] | None  # of the activations that int8 quantizes


class QuickNet:
    """The net of a checkpoint. Raises BadInput if the weights do not fit it."""

    def __init__(self, file: CheckpointFile, config: DeviceConfig):
        self._file, self._config = file, config
        self._path = _path_of(file, config) if _may_be_known(file, config) else None
        self._known = _read(self._path) if self._path else None
        if self._known is None:
            self.net  # noqa: B018, it is checked now
        file.warn_of_change()

    @functools.cached_property
    def net(self) -> "Net":
        """The net itself, for which torch is imported."""
        from azero.nets.checkpoint import load_net

        return load_net(self._file).net

    def evaluator(self, rows: int, num_threads: int) -> SessionEvaluator:
        """Returns an evaluator with the fastest runtime for passes of `rows` rows that is near enough to fp32."""
        precision = self._known.precisions.get(str(rows)) if self._known else None
        if precision:
            with suppress(RuntimeError, ImportError):  # the path with torch says what fails, and uses another runtime
                return self._open_known(precision, rows, num_threads)
        from azero.nets.evaluator import NetEvaluator

        evaluator = NetEvaluator(self.net, self._config, rows, num_threads)
        self._remember(evaluator)
        return evaluator

    def judge_alone(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the net's logits in fp32, see `evaluator.judge_alone`."""
        from azero.nets.evaluator import judge_alone

        return judge_alone(self.net, self._config, planes)

    def heads_alone(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """Returns the answers of the net's kept heads for a position's planes [1, C, H, W], in fp32; see `Heads`."""
        return self._heads(planes)

    @functools.cached_property
    def _heads(self) -> Heads:
        """The kept heads: run by OpenVINO if it runs the net, so that they have the same bits each time."""
        if self._known:
            with suppress(RuntimeError, ImportError):
                from azero.nets.runtimes.openvino import session

                return session.open_heads(self._drawing())
        from azero.nets.evaluator import open_heads

        return open_heads(self.net, self._config)

    def _drawing(self) -> Drawing:
        drawing = drawing_of(self._file.config.name, self._file.weights, self._file.game)
        assert drawing, "it may be known"
        return drawing

    def _open_known(self, precision: str, rows: int, num_threads: int) -> SessionEvaluator:
        from azero.nets.runtimes.openvino.session import open_drawing

        assert self._known, "it is known"
        session = open_drawing(self._drawing(), precision, rows, num_threads, self._known.peaks)
        return SessionEvaluator(Runtime("openvino", precision), session, rows, num_threads)

    def _remember(self, evaluator: SessionEvaluator) -> None:
        """Keeps how OpenVINO runs the net, unless another library runs it, or the settings ask for something else."""
        library, precision = evaluator.runtime
        if self._path is None or library != "openvino" or self._config.precision not in ("auto", precision):
            return
        known = self._known or Known({}, None)
        peaks = getattr(evaluator.session, "peaks", None) or known.peaks
        self._known = Known(known.precisions | {str(evaluator.rows): precision}, peaks)
        _write(self._path, self._known)


def _may_be_known(file: CheckpointFile, config: DeviceConfig) -> bool:
    """Returns whether OpenVINO may run a net of azero's here. Whether there is a GPU must be clear without torch."""
    if file.config.name not in ARCHITECTURES or config.runtime not in ("auto", "openvino"):
        return False
    if importlib.util.find_spec("openvino") is None:
        return False
    has_no_gpu = sys.platform == "linux" and not any(Path(each).exists() for each in _GPU_FILES)
    return config.device == "cpu" or (config.device == "auto" and (has_no_gpu or version("torch").endswith("+cpu")))


def _path_of(file: CheckpointFile, config: DeviceConfig) -> Path:
    """Returns the file of what is known. Its name is a digest of all that this depends on."""
    sources = hashlib.sha256()
    for folder in ("heads", "nets"):
        for each in sorted((PACKAGE / folder).rglob("*.py")):
            sources.update(each.read_bytes())
    versions = [version(each) for each in ("torch", "openvino")]
    settings = config.device, config.runtime, config.precision
    game = str(file.game), source_digest_of(file.game.rules)
    what = (
        file.digest,
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
    """Returns whether precisions are those of OpenVINO, and peaks are finite numbers; int8 needs them."""
    precisions, peaks = known.precisions.values() if isinstance(known.precisions, dict) else ["none"], known.peaks
    has_peaks = isinstance(peaks, list) and all(isinstance(each, float) and 0 < each < inf for each in peaks)
    return all(each in ("fp32", "bf16") or (each == "int8" and has_peaks) for each in precisions)


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
