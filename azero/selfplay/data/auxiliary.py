"""The targets of auxiliary heads: each has a name and is computed from positions of self-play."""

from abc import abstractmethod
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple, Protocol

import numpy as np

from azero.games import Game
from azero.games.contract import sign_of
from azero.selfplay.data.endings import Endings, endings_of
from azero.selfplay.data.records import Shard


class Positions(NamedTuple):
    """B positions of a shard, each in a symmetry, and their games."""

    game: Game
    shard: Shard
    indices: np.ndarray  # [B] int64, the positions' places in the shard
    symmetries: np.ndarray  # [B] int64
    games: np.ndarray  # [B] int64, the numbers of the positions' games in the shard
    ends: np.ndarray  # [B] int64, the ends of these games in the shard: one past the last ply
    endings: Callable[[], Endings]  # the ends of the shard's games; the first call computes them

    def signs_at_end(self) -> np.ndarray:
        """Returns the factors that convert figures of the final position to the mover's point of view, [B, 1] float32.

        A factor is 1 or -1. It is NaN if the game was resigned, since its end is unknown.
        """
        is_over = self.endings().is_over[self.games]
        return np.where(is_over, sign_of(self.shard.players[self.indices]), np.nan).astype(np.float32)[:, None]


class AuxiliaryTarget(Protocol):
    """The target of an auxiliary head."""

    name: str

    @abstractmethod
    def targets(self, positions: Positions) -> np.ndarray:
        """Returns the targets of B positions, [B, columns] float32, for the player to move.

        They are NaN if unknown, unless the head has another way to leave positions out.
        """

    @abstractmethod
    def lesson_targets(self, game: Game, results: np.ndarray) -> np.ndarray:
        """Returns the targets of B lessons, [B, columns] float32, by their results ([B] int8, for the mover)."""


def positions_of(
    game: Game,
    shard: Shard,
    indices: np.ndarray,
    symmetries: np.ndarray,
    endings: Callable[[], Endings] | None = None,
) -> Positions:
    """Returns the positions at `indices` ([B] int64) of a shard, in `symmetries` ([B] int64).

    Args:
      endings: the result of `endings_when_asked` for this shard; pass it to compute the endings only once.
    """
    ends = np.cumsum(shard.lengths)
    games = np.searchsorted(ends, indices, side="right")
    return Positions(game, shard, indices, symmetries, games, ends[games], endings or endings_when_asked(game, shard))


def endings_when_asked(game: Game, shard: Shard) -> Callable[[], Endings]:
    """Returns a function that returns the endings of a shard's games. It computes them once, when first called."""
    return cache(partial(endings_of, game, shard))
