"""The protocol of evaluators, and the simplest evaluators."""

import functools
import threading
from collections.abc import Callable
from typing import Protocol

import numpy as np


class Evaluator(Protocol):
    """Evaluates positions in batches. `azero.nets.evaluator` does so with a net; any class with these members works."""

    rows: int
    """Rows of one forward pass. Batches of a multiple of it waste nothing. 0: any size is as good."""

    is_on_device: bool
    """Whether it works on an accelerator, so that the CPU is free meanwhile. Then self-play calls `evaluate` in several
    threads at the same time."""

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Evaluates a batch of positions.

        Args:
          planes: [B, C, H, W] float32; not used after the call returns.

        Returns:
          logits: [B, A] float32 of the prior, before the softmax; those of illegal actions are not read.
          values: [B] float32 in [-1, 1], for the player to move.
        """


class UniformEvaluator:
    """Uniform priors and values of 0. It shows the cost and the strength of the search alone."""

    rows = 0
    is_on_device = False

    def __init__(self, num_actions: int):
        self._num_actions = num_actions

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(planes), self._num_actions), np.float32), np.zeros(len(planes), np.float32)


class LateEvaluator:
    """An evaluator that is opened when it is first used, so that the kernels of its search can be compiled before.

    Until then any number of rows is as good.

    Attributes:
      compile: compiles the kernels that it will use.
    """

    def __init__(self, open_evaluator: Callable[[], Evaluator], compile: Callable[[], object], is_on_device: bool):
        self.compile, self.rows, self.is_on_device = compile, 0, is_on_device
        self._open_evaluator = open_evaluator
        self._lock = threading.Lock()

    @functools.cached_property
    def _opened(self) -> Evaluator:
        opened = self._open_evaluator()
        self.rows = opened.rows
        return opened

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with self._lock:  # several threads may come first
            opened = self._opened
        return opened.evaluate(planes)
