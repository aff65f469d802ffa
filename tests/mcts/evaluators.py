"""Evaluators for tests, with arbitrary answers that depend only on the position."""

import hashlib

import numpy as np

from azero.games import Game


class HashEvaluator:
    """Evaluates by a digest of the planes, so that every position has different priors and a different value.

    All numbers are multiples of 2^-15, so that sums of a few of them are exact.
    """

    rows = 0
    is_on_device = False

    def __init__(self, game: Game):
        self._num_actions = game.num_actions
        self.batch_sizes: list[int] = []

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.batch_sizes.append(len(planes))
        answers = np.stack([self._digest(position) for position in planes])
        return 2 * answers[:, :-1], answers[:, -1]

    def _digest(self, position: np.ndarray) -> np.ndarray:
        """Returns [A + 1] float32 in [-1, 1)."""
        digest = hashlib.shake_128(position.tobytes()).digest(2 * (self._num_actions + 1))
        return (np.frombuffer(digest, np.uint16) / 2**15 - 1).astype(np.float32)


class SymmetricEvaluator(HashEvaluator):
    """Evaluates by the mean of the digests over all symmetries, so that results are equivariant to the last bit."""

    def __init__(self, game: Game):
        super().__init__(game)
        self._symmetries = game.symmetries

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(self._symmetries.cells)
        assert count & count - 1 == 0, "the number of symmetries should be a power of two, so that division is exact"
        logits, values = np.zeros((len(planes), self._num_actions), np.float32), np.zeros(len(planes), np.float32)
        flat = planes.reshape(*planes.shape[:2], -1)
        for cells, actions in zip(*self._symmetries, strict=True):
            seen = np.ascontiguousarray(flat[:, :, cells]).reshape(planes.shape)
            own_logits, own_values = super().evaluate(seen)
            logits[:, actions] += own_logits / count
            values += own_values / count
        return logits, values


class FixedEvaluator:
    """Gives the same answer for every position."""

    rows = 0
    is_on_device = False

    def __init__(self, logits: list[float], value: float = 0.0):
        self._logits, self._value = np.array(logits, np.float32), value

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.tile(self._logits, (len(planes), 1)), np.full(len(planes), self._value, np.float32)
