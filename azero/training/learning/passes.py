"""Passes: the parts of a batch whose losses and gradients are computed apart.

On a CPU each is computed in a thread. On CUDA it is recorded once as a graph: one launch instead of hundreds.
"""

import copy
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from azero.config.schema import Config
from azero.nets.architectures.board import WHOLE, Board
from azero.nets.architectures.contract import Prediction
from azero.nets.devices import pick_dtype
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.samples import Sample
from azero.system.console import say
from azero.system.machine import count_cores
from azero.training.learning.learner import Learner
from azero.training.learning.losses import Losses, losses_of, map_losses

PASS_ROWS = 128
"""Most rows of one forward and backward pass on a CPU. Batch normalisation computes its statistics over a pass."""


Compute = Callable[[Sequence[Tensor]], tuple[Losses, list[Tensor]]]
"""Computes losses and gradients of inputs on one device, without waiting for it."""

_WARM_UP_PASSES = 3  # before a recording: the first passes choose algorithms and allocate memory


class Pass(NamedTuple):
    """What a pass has found, times its share of the batch, on the first device."""

    losses: Losses
    gradients: list[Tensor]  # of the learner's parameters, in their order


class Passes:
    """Computes the passes of batches, or of one rank's share of them.

    Each pass has a twin of the learner, with the same parameters and its own running statistics. The learner itself
    takes the first pass, so that a net's running statistics are those of the first pass of each batch. On a CPU a pass
    runs in one thread. On GPUs there is one pass for each, with a copy of the weights.
    """

    def __init__(
        self,
        learner: Learner,
        config: Config,
        devices: Sequence[torch.device],
        canvas: Canvas | None = None,
    ):
        """Prepares the passes of a learner, which is on the first of `devices`."""
        self.config = config.training
        self.devices = devices
        self.canvas = canvas
        self.dtype = pick_dtype(config.training.precision.replace("auto", "fp32"), devices[0])
        self.twins = [learner]
        self._recordings: dict[tuple[int, float], RecordedPass] = {}  # on CUDA, by number and share of a batch
        self._lock = threading.Lock()
        self.use_threads(config.device.threads or count_cores())

    def use_threads(self, num_threads: int) -> None:
        """Sets the number of threads. Results do not depend on it."""
        self._threads = ThreadPoolExecutor(num_threads, initializer=torch.set_num_threads, initargs=(1,))

    def map(self, function: Callable[..., Any], *arguments: Iterable) -> Iterator[Any]:
        """Calls a function in the threads, as `map` does."""
        return self._threads.map(function, *arguments)

    def run(self, sample: Sample, batch_size: int, num_passes: int) -> list[Pass]:
        """Returns the passes of a sample in order. It is a batch, or a rank's rows of one, with `num_passes` passes."""
        starts = [_first_row(number, len(sample.results), num_passes) for number in range(num_passes + 1)]
        parts = [sample.at(slice(*rows)) for rows in pairwise(starts)]
        while len(self.twins) < len(parts):
            self.twins.append(_twin(self.twins[0], self._device_of(len(self.twins)), self.devices[0]))
        shares = [len(part.results) / batch_size for part in parts]
        return list(self.map(self._run_one, range(len(parts)), parts, shares))

    def _device_of(self, number: int) -> torch.device:
        return self.devices[number % len(self.devices)]

    def _run_one(self, number: int, part: Sample, share: float) -> Pass:
        learner, device, home = self.twins[number], self._device_of(number), self.devices[0]
        if device != home:
            with torch.no_grad():
                torch._foreach_copy_([*learner.parameters()], [*self.twins[0].parameters()])
        board = self.board_of(part, device)
        planes, policies, results, targets = self.to_device(part, device)
        inputs = [planes, policies, results, *(targets[head.name] for head in learner.wanted)]
        compute: Compute = partial(self._compute, learner, board, share)
        if device.type == "cuda" and board is WHOLE:
            compute = self._recorded(number, share, compute, inputs)
        losses, gradients = compute(inputs)
        on_first = [gradient.to(home, non_blocking=True) for gradient in gradients]
        return Pass(map_losses(lambda loss: share * loss.to(home), losses), on_first)

    def _compute(
        self, learner: Learner, board: Board, share: float, inputs: Sequence[Tensor]
    ) -> tuple[Losses, list[Tensor]]:
        """Returns the losses of a pass, and the gradients of `share` times their total.

        Args:
          inputs: planes, policies and results as in `Sample`, and the targets of the learner's heads.
        """
        planes, policies, results, *targets = inputs
        with torch.autocast(self.devices[0].type, torch.bfloat16, self.dtype == torch.bfloat16, cache_enabled=False):
            prediction, outputs = learner(planes, board)
        losses = losses_of(Prediction(*(logits.float() for logits in prediction)), policies, results)
        of_heads = {
            head.name: head.with_torch.loss(outputs[head.name].float(), own)
            for head, own in zip(learner.wanted, targets, strict=True)
        }
        losses = losses._replace(auxiliary=of_heads)
        gradients = torch.autograd.grad(share * losses.total(self.config), list(learner.parameters()))
        return map_losses(Tensor.detach, losses), list(gradients)

    def _recorded(self, number: int, share: float, compute: Compute, inputs: Sequence[Tensor]) -> Compute:
        """Returns the recording of a pass; records it if there is none for this share of a batch and these shapes."""
        recorded = self._recordings.get((number, share))
        if recorded is None or not recorded.fits(inputs):
            with self._lock:
                recorded = self._recordings[number, share] = RecordedPass(compute, self.twins[number], inputs)
        return recorded

    def board_of(self, sample: Sample, device: torch.device) -> Board:
        """Returns where the boards of a sample are."""
        if sample.sizes is None or self.canvas is None:
            return WHOLE
        cells, places = self.canvas.cells[sample.sizes], self.canvas.places[sample.sizes]
        return Board(_tensor_on(device, cells), _tensor_on(device, places))

    def to_device(
        self, sample: Sample, device: torch.device | None = None
    ) -> tuple[Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Returns the arrays of a sample as tensors, in its order. Copies to a GPU are asynchronous."""
        device = device or self.devices[0]
        planes = _tensor_on(device, sample.planes).contiguous(memory_format=torch.channels_last)
        auxiliary = {name: _tensor_on(device, targets) for name, targets in sample.auxiliary.items()}
        return planes, _tensor_on(device, sample.policies), _tensor_on(device, sample.results), auxiliary


def count_passes(batch_size: int, device: torch.device, num_devices: int) -> int:
    """Returns the number of passes of a batch, each of 2 rows or more if the batch has as many.

    Args:
      num_devices: the number of GPUs in all ranks.
    """
    return -(-batch_size // PASS_ROWS) if device.type == "cpu" else min(num_devices, max(1, batch_size // 2))


def share_of(rank: int, num_ranks: int, batch_size: int, num_passes: int) -> tuple[slice, int]:
    """Returns a rank's rows of a batch and the number of their passes. The first ranks may have one pass more."""
    first, end = (-(-num_passes * each // num_ranks) for each in (rank, rank + 1))
    return slice(_first_row(first, batch_size, num_passes), _first_row(end, batch_size, num_passes)), end - first


def _first_row(number: int, size: int, num_passes: int) -> int:
    """Returns the row at which a pass begins. Passes are as even as possible, the first ones one row more."""
    few, more = divmod(size, num_passes)
    return few * number + min(number, more)


def _tensor_on(device: torch.device, array: np.ndarray) -> Tensor:
    """Returns an array as a tensor. A copy to a GPU is asynchronous."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def _twin(learner: Learner, device: torch.device, home: torch.device) -> Learner:
    """Returns a copy of a learner with its own normalisation statistics. At `home` it shares the parameters' memory."""
    twin = copy.deepcopy(learner).to(device)
    if device != home:
        return twin
    for own, shared in zip(twin.parameters(), learner.parameters(), strict=True):
        own.data = shared.data
    return twin


class RecordedPass:
    """A pass that is recorded for the first inputs, and repeated for further ones of the same shapes.

    The outputs are overwritten by the next call. If a pass cannot be recorded, e.g. because the net looks at its values
    on the CPU, this is told on stderr, and each call computes it.
    """

    def __init__(self, compute: Compute, module: nn.Module, inputs: Sequence[Tensor]):
        """Records `compute`, whose parameters and running statistics are those of `module`."""
        self._compute = compute
        self._inputs = [each.clone() for each in inputs]
        self._stream = torch.cuda.Stream(inputs[0].device)
        self._stream.wait_stream(torch.cuda.current_stream(inputs[0].device))
        with torch.cuda.stream(self._stream):
            self._graph = self._record(module)
        torch.cuda.current_stream(inputs[0].device).wait_stream(self._stream)

    def _record(self, module: nn.Module) -> torch.cuda.CUDAGraph | None:
        before = [each.clone() for each in module.buffers()]  # the warm-up changes the running statistics
        for _ in range(_WARM_UP_PASSES):
            self._compute(self._inputs)
        for buffer, value in zip(module.buffers(), before, strict=True):
            buffer.copy_(value)
        self._stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
                self._outputs = self._compute(self._inputs)
        except RuntimeError as error:
            cause = error.__context__  # ending a failed recording raises another error
            for each in (error, cause):
                if isinstance(each, torch.OutOfMemoryError):
                    raise each from None
            say(f"passes of training are not recorded, which makes them slower: {str(cause or error).splitlines()[0]}")
            return None
        return graph

    def fits(self, inputs: Sequence[Tensor]) -> bool:
        """Returns whether inputs have the shapes of the first ones."""
        return [each.shape for each in inputs] == [each.shape for each in self._inputs]

    def __call__(self, inputs: Sequence[Tensor]) -> tuple[Losses, list[Tensor]]:
        """Returns losses and gradients for these inputs."""
        if self._graph is None:
            return self._compute(inputs)
        torch._foreach_copy_(self._inputs, list(inputs))
        self._graph.replay()
        return self._outputs
