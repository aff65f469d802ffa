"""The net on a GPU: recorded passes (CUDA graphs), pinned memory, and batches that fit into the GPU's memory."""

import threading
from collections import defaultdict
from typing import NamedTuple

import numpy as np
import torch

from azero.nets.architectures.contract import Net
from azero.nets.runtimes.torch_runtime import TorchSession
from azero.system.console import say

MOST_ROWS = 4096
"""Maximum of rows per pass."""

_FEWEST_ROWS = 16
_WARM_UP_PASSES = 3  # before a recording: the first passes choose algorithms and allocate memory


class GpuSession:
    """A net ready to run on a GPU, with folded normalisations and channels last. Several threads may use it at once.

    A batch is split into passes of at most MOST_ROWS rows. If a pass does not fit in the GPU's memory, the limit is
    halved, with a notice on stderr. On CUDA a pass is filled up to a power of two of rows. For each such size it is
    recorded as a graph, so that the launch overhead, about 10 us per layer, is paid only once per pass. Threads whose
    passes have the same size at the same time get recordings of their own, and their passes run side by side.
    """

    def __init__(self, net: Net, device: torch.device, dtype: torch.dtype):
        self._plain = TorchSession(net, device, dtype)
        self._device = device
        self._is_recording = device.type == "cuda"
        self._free: defaultdict[int, list[_Recording]] = defaultdict(list)  # by rows, those that no thread uses
        self._one_at_a_time = threading.Lock()
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
        self._free.clear()
        self._most_rows = max(rows // 2, 1)
        if self._is_recording:
            torch.cuda.empty_cache()
        say(f"a pass of {rows} rows exceeds the GPU's memory; passes now have {self._most_rows} rows")

    def _run_pass(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self._is_recording:
            with self._one_at_a_time:
                return self._plain.run(planes)
        rows = min(max(_FEWEST_ROWS, 1 << (len(planes) - 1).bit_length()), self._most_rows)
        try:
            recording = self._free[rows].pop()
        except IndexError:
            with self._one_at_a_time:
                recording = _record(self._plain, self._device, rows, planes.shape[1:])
        recording.planes[: len(planes)] = planes
        recording.replay()  # other threads run in the meantime
        answer = recording.logits[: len(planes)].copy(), recording.values[: len(planes)].copy()
        self._free[rows].append(recording)
        return answer


class _Recording(NamedTuple):
    """A recorded pass on CUDA, and the pinned memory that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    stream: torch.cuda.Stream
    planes: np.ndarray  # [rows, C, H, W] float32
    logits: np.ndarray  # [rows, A] float32
    values: np.ndarray  # [rows] float32

    def replay(self) -> None:
        """Runs the pass, and waits for its end."""
        with torch.cuda.stream(self.stream):
            self.graph.replay()
        self.stream.synchronize()


@torch.inference_mode()
def _record(session: TorchSession, device: torch.device, rows: int, planes_shape: tuple[int, ...]) -> _Recording:
    """Records a pass of `rows` rows, from pinned memory to pinned memory."""
    planes = torch.zeros((rows, *planes_shape), pin_memory=True)
    stream = torch.cuda.Stream(device)
    with torch.cuda.stream(stream):  # the thread's current device is this one meanwhile
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
    return _Recording(graph, stream, planes.numpy(), logits.numpy(), values.numpy())
