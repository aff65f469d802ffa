"""A pass of training on CUDA, recorded once as a graph. Later passes are one launch instead of some hundreds."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from azero.training.learning.losses import Losses

Work = Callable[[Sequence[Tensor]], tuple[Losses, list[Tensor]]]
"""Computes losses and gradients of inputs on one device, without waiting for it."""

_WARM_UP_PASSES = 3  # before a recording: the first passes choose algorithms and allocate memory


class RecordedWork:
    """Work that is recorded for the first inputs, and repeated for further ones of the same shapes.

    The outputs are overwritten by the next call. Work that cannot be recorded, e.g. of a net that looks at its values
    on the CPU, is done without a recording.
    """

    def __init__(self, work: Work, module: nn.Module, inputs: Sequence[Tensor]):
        """Records work whose parameters and running statistics are those of `module`."""
        self._work = work
        self._inputs = [each.clone() for each in inputs]
        self._stream = torch.cuda.Stream(inputs[0].device)
        self._stream.wait_stream(torch.cuda.current_stream(inputs[0].device))
        with torch.cuda.stream(self._stream):
            self._graph = self._record(module)
        torch.cuda.current_stream(inputs[0].device).wait_stream(self._stream)

    def _record(self, module: nn.Module) -> torch.cuda.CUDAGraph | None:
        before = [each.clone() for each in module.buffers()]  # the warm-up changes the running statistics
        for _ in range(_WARM_UP_PASSES):
            self._work(self._inputs)
        for buffer, value in zip(module.buffers(), before, strict=True):
            buffer.copy_(value)
        self._stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=self._stream, capture_error_mode="thread_local"):
                self._outputs = self._work(self._inputs)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError:
            return None
        return graph

    def fits(self, inputs: Sequence[Tensor]) -> bool:
        """Returns whether inputs have the shapes of the first ones."""
        return [each.shape for each in inputs] == [each.shape for each in self._inputs]

    def __call__(self, inputs: Sequence[Tensor]) -> tuple[Losses, list[Tensor]]:
        """Does the work for these inputs."""
        if self._graph is None:
            return self._work(inputs)
        torch._foreach_copy_(self._inputs, list(inputs))
        self._graph.replay()
        return self._outputs
