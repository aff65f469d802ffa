"""The net on a GPU: recorded passes (CUDA graphs), pinned memory, and batches that fit into the GPU's memory."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from azero.nets.architectures.contract import Net
from azero.nets.runtimes.torch_runtime import TorchSession
from azero.system.console import say

MOST_ROWS = 4096
"""Maximum of rows per pass."""

_FEWEST_ROWS = 16
_WARM_UP_PASSES = 3  # before a recording: the first passes choose algorithms and allocate memory


class GpuSession:
    """A net ready to run on a GPU, with folded normalisations and channels last.

    A batch is split into passes of at most MOST_ROWS rows. If a pass does not fit in the GPU's memory, the limit is
    halved, with a notice on stderr. On CUDA a pass is filled up to a power of two of rows. For each such size it is
    recorded once as a graph, so that the launch overhead, about 10 us per layer, is paid only once per pass.
    """

    def __init__(self, net: Net, device: torch.device, dtype: torch.dtype):
        self._plain = TorchSession(net, device, dtype)
        self._device = device
        self._is_recording = device.type == "cuda"
        self._recordings: dict[int, _Recording] = {}
        self._most_rows = MOST_ROWS

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32."""
        answers: list[tuple[np.ndarray, np.ndarray]] = []
        done = 0
        while done < len(planes):
            part = planes[done : done + self._most_rows]
            try:
                answers.append(self._run_pass(part))
            except torch.OutOfMemoryError:
                if len(part) == 1:
                    raise
                self._take_smaller_passes(len(part))
            else:
                done += len(part)
        logits, values = zip(*answers, strict=True)
        return np.concatenate(logits), np.concatenate(values)

    def _take_smaller_passes(self, rows: int) -> None:
        self._recordings.clear()
        self._most_rows = max(rows // 2, 1)
        if self._is_recording:
            torch.cuda.empty_cache()
        say(f"a pass of {rows} rows exceeds the GPU's memory; passes now have {self._most_rows} rows")

    def _run_pass(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self._is_recording:
            return self._plain.run(planes)
        rows = min(max(_FEWEST_ROWS, 1 << (len(planes) - 1).bit_length()), self._most_rows)
        with torch.cuda.device(self._device):  # each thread has its own current device
            if rows not in self._recordings:
                self._recordings[rows] = _record(self._plain, rows, planes.shape[1:])
            recording = self._recordings[rows]
            recording.planes.numpy()[: len(planes)] = planes
            recording.graph.replay()
            torch.cuda.current_stream().synchronize()  # other threads run in the meantime
        return recording.logits.numpy()[: len(planes)].copy(), recording.values.numpy()[: len(planes)].copy()


class _Recording(NamedTuple):
    """A recorded pass on CUDA, and the pinned memory that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    planes: Tensor  # [rows, C, H, W] float32
    logits: Tensor  # [rows, A] float32
    values: Tensor  # [rows] float32


@torch.inference_mode()
def _record(session: TorchSession, rows: int, planes_shape: tuple[int, ...]) -> _Recording:
    """Records a pass of `rows` rows, from pinned memory to pinned memory."""
    planes = torch.zeros((rows, *planes_shape), pin_memory=True)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(_WARM_UP_PASSES):
            prediction = session.predict(planes)
    stream.synchronize()
    logits = torch.empty(prediction.policy_logits.shape, pin_memory=True)
    values = torch.empty(rows, pin_memory=True)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
            prediction = session.predict(planes)
            logits.copy_(prediction.policy_logits, non_blocking=True)
            values.copy_(prediction.value(), non_blocking=True)
    except RuntimeError as error:
        cause = error.__context__  # ending a failed recording raises another error
        raise cause if isinstance(cause, torch.OutOfMemoryError) else error from None
    return _Recording(graph, planes, logits, values)
