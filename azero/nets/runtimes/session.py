"""A net that is ready to run, and as an `Evaluator` of searches. Nothing here imports torch."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

import numpy as np

from azero.errors import BadInput

Heads = Callable[[np.ndarray], dict[str, np.ndarray]]
"""The heads that a net keeps, ready to run: a function from planes [B, C, H, W] float32 to their answers by name.

Answers are float32, for the player to move: [B, H, W] if a head has a number for each cell, otherwise [B, 1].
"""


class Runtime(NamedTuple):
    """A library that runs nets, and the precision of its arithmetic."""

    library: str  # torch, openvino or winograd
    precision: str  # fp32, bf16 or int8

    @property
    def name(self) -> str:
        return f"{self.library} {self.precision}"


EXACT = Runtime("torch", "fp32")
"""The runtime that every machine has, and the reference for the others."""


def by_position(answers: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns the answers of heads with [B, 1] as [B], so that each position has an array [H, W] or a number.

    Raises BadInput if they are not finite.
    """
    if not all(np.isfinite(each).all() for each in answers.values()):
        raise BadInput("the net cannot be used: the outputs of its heads are not finite numbers")
    return {name: each[:, 0] if each.ndim == 2 else each for name, each in answers.items()}


class Session(Protocol):
    """A net ready to run. As many threads as it was opened for may use it at once."""

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32.

        On a CPU, the output of a row does not depend on the other rows, to the last bit. So seeds reproduce games.
        """


def filled_up(planes: np.ndarray, rows: int) -> np.ndarray:
    """Returns planes, filled up with zeros to `rows` rows."""
    missing = rows - len(planes)
    return np.concatenate([planes, np.zeros((missing, *planes.shape[1:]), np.float32)]) if missing else planes


ROWS = 64
"""Rows of a forward pass if many games share the net. More rows are not faster on a CPU."""

MATCH_ROWS = 16
"""Rows of a forward pass in a match. Each net has half of the games, and towards the end there are few."""


class SessionEvaluator:
    """Evaluates batches of positions with a net that is ready to run.

    On a CPU every forward pass has the same number of rows, filled up with zeros, unless the library takes any number.
    So the output for a position does not depend on the rest of the batch, to the last bit. A pass takes one thread, and
    several passes run side by side. Threads that share a pass would wait for each other. A GPU takes batches of any
    size; see `pytorch/gpu.py`.

    Attributes:
      runtime: the library and precision that run the net.
      session: the net, ready to run.
      rows: rows of a forward pass; multiples of it waste nothing. 0 if any batch size is as good.
      fills_up: whether every pass has all its rows.
      is_on_device: whether the net runs on an accelerator, so that the CPU is free meanwhile.
    """

    is_on_device = False

    def __init__(self, runtime: Runtime, session: Session, rows: int, num_threads: int, fills_up: bool = True):
        self.runtime, self.session, self.rows, self.fills_up = runtime, session, rows, fills_up
        self._pool = ThreadPoolExecutor(num_threads) if num_threads > 1 else None

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both finite float32, of planes [B, C, H, W] float32.

        Raises BadInput if the net's outputs are not finite numbers, which a search could not use.
        """
        logits, values = self._evaluate(planes)
        if not (np.isfinite(logits).all() and np.isfinite(values).all()):
            raise BadInput("the net cannot be used: its outputs are not finite numbers")
        return logits, values

    def _evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = self.rows or len(planes)
        passes = [planes[at : at + rows] for at in range(0, len(planes), rows)]
        if self.fills_up:
            passes = [filled_up(each, rows) for each in passes]
        if len(passes) == 1:
            logits, values = self.session.run(passes[0])
            return logits[: len(planes)], values[: len(planes)]
        answers = self._pool.map(self.session.run, passes) if self._pool else map(self.session.run, passes)
        logits, values = (np.concatenate(parts) for parts in zip(*answers, strict=True))
        return logits[: len(planes)], values[: len(planes)]
