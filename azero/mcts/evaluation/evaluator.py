"""What a search asks of whoever judges positions, and the simplest judge of all."""

from typing import Protocol

import numpy as np


class Evaluator(Protocol):
    """Judges positions in batches. A net does (`azero.nets.evaluator`); so does anything that has this."""

    rows: int
    """Rows of one forward pass: a batch of a multiple of them wastes nothing. 0: any size is as good."""

    is_on_device: bool
    """Whether it works on an accelerator, so that the CPU is free meanwhile."""

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns what a batch of positions is worth.

        Args:
          planes: [B, C, H, W] float32; read before the call returns, not kept.

        Returns:
          logits: [B, A] float32 of the prior, before the softmax; those of illegal actions are not read.
          values: [B] float32 in [-1, 1], for the player to move.
        """


class UniformEvaluator:
    """Knows nothing: every move alike, every position even. It shows what the search alone costs, and can."""

    rows = 0
    is_on_device = False

    def __init__(self, num_actions: int):
        self._num_actions = num_actions

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(planes), self._num_actions), np.float32), np.zeros(len(planes), np.float32)
