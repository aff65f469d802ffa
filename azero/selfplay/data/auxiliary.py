"""Positions of self-play, from which the targets of auxiliary heads are computed."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from azero.games import Game
from azero.games.contract import sign_of
from azero.selfplay.data.endings import Endings, endings_of
from azero.selfplay.data.policies import Policies
from azero.selfplay.data.records import Shard


class Derived:
    """What follows from a whole shard. Samples share it, so that it is computed only once, when it is first needed.

    Attributes:
      policies: the policy targets.
      endings: the ends of the games.
    """

    def __init__(self, game: Game, shard: Shard):
        self._game, self._shard = game, shard

    @cached_property
    def policies(self) -> Policies:
        return self._shard.policies()

    @cached_property
    def endings(self) -> Endings:
        return endings_of(self._game, self._shard)


class Positions(NamedTuple):
    """B positions of a shard, each in a symmetry, and their games."""

    game: Game
    shard: Shard
    indices: np.ndarray  # [B] int64, the positions' places in the shard
    symmetries: np.ndarray  # [B] int64
    games: np.ndarray  # [B] int64, the numbers of the positions' games in the shard
    derived: Derived  # from the shard

    def endings(self) -> Endings:
        """Returns the ends of the shard's games."""
        return self.derived.endings

    def signs_at_end(self) -> np.ndarray:
        """Returns the factors that convert figures of the final position to the mover's point of view, [B, 1] float32.

        A factor is 1 or -1.
        """
        return sign_of(self.shard.players[self.indices]).astype(np.float32)[:, None]


def positions_of(
    game: Game, shard: Shard, indices: np.ndarray, symmetries: np.ndarray, derived: Derived | None = None
) -> Positions:
    """Returns the positions at `indices` ([B] int64) of a shard, in `symmetries` ([B] int64).

    Args:
      derived: what follows from this shard, if it is known.
    """
    games = np.searchsorted(np.cumsum(shard.lengths), indices, side="right")
    return Positions(game, shard, indices, symmetries, games, derived or Derived(game, shard))
