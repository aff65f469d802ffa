"""From planes to priors and values: the `Evaluator` that searches use, with a net behind it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from azero.config.schema import DeviceConfig
from azero.nets.architectures.tower import ResidualTower
from azero.nets.runtimes.choice import filled_up, open_session, pick_device

ROWS = 64
"""Rows of a forward pass where many games share the net: a CPU is at its best from here on."""


class NetEvaluator:
    """Judges batches of positions with a net.

    On a CPU every forward pass has the same number of rows, filled up with zeros, so that what the net says of a
    position does not depend, to the last bit, on what else is asked. A pass takes one thread, and several passes go
    side by side: threads that share one pass wait for each other, and for whatever else the machine does.
    A GPU takes a batch of any size, see `gpu_session.py`.

    Attributes:
      runtime: what runs the net.
      rows: of a forward pass: a batch of a multiple wastes nothing. 0 where a batch is taken as it comes.
      is_on_device: whether the net runs elsewhere than on the CPU, which can do something else in the meantime.
    """

    def __init__(self, net: ResidualTower, config: DeviceConfig, rows: int = ROWS, num_threads: int = 1):
        self.is_on_device = pick_device(config.device).type != "cpu"
        self.rows = 0 if self.is_on_device else rows
        self.runtime, self._session = open_session(net, config, rows, num_threads)
        self._pool = ThreadPoolExecutor(num_threads) if num_threads > 1 else None

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32."""
        rows = self.rows or len(planes)
        passes = [filled_up(planes[at : at + rows], rows) for at in range(0, len(planes), rows)]
        if len(passes) == 1:
            logits, values = self._session.run(passes[0])
            return logits[: len(planes)], values[: len(planes)]
        answers = self._pool.map(self._session.run, passes) if self._pool else map(self._session.run, passes)
        logits, values = (np.concatenate(parts) for parts in zip(*answers, strict=True))
        return logits[: len(planes)], values[: len(planes)]
