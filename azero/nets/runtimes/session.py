"""A net that is ready to run, and the runtime that runs it. Nothing here imports torch."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

Tell = Callable[[np.ndarray], dict[str, np.ndarray]]
"""From planes [B, C, H, W] float32 to what a net's kept heads say, for the player to move, as float32 arrays by name.

`ownership`, [B, H, W] in [-1, 1], is 1 where the mover is expected to own the cell. `score`, [B, 1], is in points.
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


class Session(Protocol):
    """A net ready to run. As many threads as it was opened for may use it at once."""

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32.

        The output of a row does not depend on the other rows, to the last bit. So seeds reproduce games.
        """


def filled_up(planes: np.ndarray, rows: int) -> np.ndarray:
    """Returns planes, filled up with zeros to `rows` rows."""
    missing = rows - len(planes)
    return np.concatenate([planes, np.zeros((missing, *planes.shape[1:]), np.float32)]) if missing else planes
