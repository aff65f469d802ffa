"""Positions of a shard and the ends of their games, of which the targets of auxiliary heads are computed."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.games import Game, new_states
from azero.games.contract import sign_of
from azero.selfplay.data.policies import Policies
from azero.selfplay.data.shard import Shard


class Endings(NamedTuple):
    """The final positions of G games."""

    scores: np.ndarray  # [G] float32, `final_score` for the first player
    owners: np.ndarray  # [G, H * W] int8, `ownership`: 1 the first player, -1 the second, 0 nobody


def endings_of(game: Game, shard: Shard) -> Endings:
    """Returns the final positions of a shard's games."""
    size = len(shard.lengths)
    endings = Endings(np.zeros(size, np.float32), np.zeros((size, *game.planes_shape[1:]), np.int8))
    last = np.cumsum(shard.lengths) - 1
    states, work = shard.states[last].view(np.recarray), new_states(game.rules, 1)
    _judge_endings(game.rules, states, shard.actions[last], work, *endings)
    return endings._replace(owners=endings.owners.reshape(size, -1))


@kernel
def _judge_endings(rules, states, actions, work, scores, owners):
    """Plays each game's last action in its last state, and writes score and owners."""
    state = work[0]
    for k in range(len(states)):
        work[0] = states[k]
        rules.apply_action(state, np.int64(actions[k]))
        scores[k] = rules.final_score(state)
        rules.ownership(state, owners[k])


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
