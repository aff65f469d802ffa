"""A pass of training on CUDA, recorded once as a graph. Each later pass is one launch instead of hundreds."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from azero.system.console import say
from azero.training.learning.losses import Losses

Compute = Callable[[Sequence[Tensor]], tuple[Losses, list[Tensor]]]
"""Computes losses and gradients of inputs on one device, without waiting for it."""

_WARM_UP_PASSES = 3  # before a recording: the first passes choose algorithms and allocate memory


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
