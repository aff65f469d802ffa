"""A net that is ready to run, and the runtime that runs it. Nothing here imports torch."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from azero.errors import BadInput

Heads = Callable[[np.ndarray], dict[str, np.ndarray]]
"""The heads that a net keeps, ready to run: a function from planes [B, C, H, W] float32 to their answers by name.

Answers are float32, for the player to move: [B, H, W] if a head has a number for each cell, otherwise [B, 1].
"""


class Runtime(NamedTuple):
    """A library that runs nets, and the precision of its arithmetic."""

    library: str  # torch or openvino
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
