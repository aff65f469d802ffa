"""The net on a GPU: recorded passes (CUDA graphs), pinned memory, and batches that fit into the GPU's memory."""

import threading
from typing import NamedTuple

import numpy as np
import torch

from azero.nets.architectures.contract import Net
from azero.nets.runtimes.pytorch.session import TorchSession
from azero.system.console import say

MOST_ROWS = 4096
"""Maximum of rows per pass."""

_FEWEST_ROWS = 64  # fewer take as long, and each number of rows needs a recording
_WARM_UP_PASSES = 3  # before a recording: the first passes choose algorithms and allocate memory


class GpuSession:
    """A net ready to run on a GPU, with folded normalisations and channels last. Several threads may use it at once.

    A batch is split into passes of at most MOST_ROWS rows. If a pass does not fit in the GPU's memory, the limit is
    halved, with a notice on stderr. On CUDA a pass is filled up to a power of two of rows. For each such size it is
    recorded as a graph, so that the launch overhead, about 10 us per layer, is paid only once per pass. A thread that
    runs a pass has a tape of its own meanwhile, so that passes of several threads run side by side.
    """

    def __init__(self, net: Net, device: torch.device, dtype: torch.dtype):
        self._plain = TorchSession(net, device, dtype)
        self._device = device
        self._is_recording = device.type == "cuda"
        self._free: list[_Tape] = []  # that no thread uses
        self._lock = threading.Lock()
        self._most_rows = MOST_ROWS

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32."""
        answers: list[tuple[np.ndarray, np.ndarray]] = []
        done = 0
        while done < len(planes):
            most_rows = self._most_rows  # another thread may change it
            part = planes[done : done + most_rows]
            try:
                answers.append(self._run_pass(part, most_rows))
            except torch.OutOfMemoryError:
                rows = self._rows_of(len(part), most_rows)
                if rows == 1:
                    raise
                self._take_smaller_passes(rows)
            else:
                done += len(part)
        logits, values = zip(*answers, strict=True)
        return np.concatenate(logits), np.concatenate(values)

    def _rows_of(self, num_positions: int, most_rows: int) -> int:
        """Returns the rows of a pass over so many positions."""
        if not self._is_recording:
            return num_positions
        return min(max(_FEWEST_ROWS, 1 << (num_positions - 1).bit_length()), most_rows)

    def _take_smaller_passes(self, rows: int) -> None:
        with self._lock:
            self._free = []  # tapes in use are given back to the old list
            self._most_rows = min(self._most_rows, rows // 2)
            if self._is_recording:
                torch.cuda.empty_cache()
        say(f"a pass of {rows} rows exceeds the GPU's memory; passes now have {self._most_rows} rows")

    def _run_pass(self, planes: np.ndarray, most_rows: int) -> tuple[np.ndarray, np.ndarray]:
        if not self._is_recording:
            with self._lock:
                return self._plain.run(planes)
        rows = self._rows_of(len(planes), most_rows)
        free = self._free
        try:
            tape = free.pop()
        except IndexError:
            tape = _Tape(self._device)
        if rows not in tape.recordings:
            with self._lock:  # one thread records at a time
                tape.recordings[rows] = _record(self._plain, tape.stream, rows, planes.shape[1:])
        answer = tape.play(tape.recordings[rows], planes)
        free.append(tape)
        return answer


class _Tape:
    """The recordings that one thread uses at a time, by their rows, and their stream."""

    def __init__(self, device: torch.device):
        self.stream = torch.cuda.Stream(device)
        self.recordings: dict[int, _Recording] = {}

    def play(self, recording: "_Recording", planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Runs a recorded pass; returns logits and values of the planes."""
        recording.planes[: len(planes)] = planes
        with torch.cuda.stream(self.stream):
            recording.graph.replay()
        self.stream.synchronize()  # other threads run in the meantime
        return recording.logits[: len(planes)].copy(), recording.values[: len(planes)].copy()


class _Recording(NamedTuple):
    """A recorded pass on CUDA, and the pinned memory that it reads and writes."""

    graph: torch.cuda.CUDAGraph
    planes: np.ndarray  # [rows, C, H, W] float32
    logits: np.ndarray  # [rows, A] float32
    values: np.ndarray  # [rows] float32


@torch.inference_mode()
def _record(session: TorchSession, stream: torch.cuda.Stream, rows: int, planes_shape: tuple[int, ...]) -> _Recording:
    """Records a pass of `rows` rows, from pinned memory to pinned memory."""
    planes = torch.zeros((rows, *planes_shape), pin_memory=True)
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
    return _Recording(graph, planes.numpy(), logits.numpy(), values.numpy())
