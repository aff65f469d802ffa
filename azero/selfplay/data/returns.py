"""Returns: value targets made of the search's values at later plies and of the game's result."""

import numpy as np

from azero.compiler.jit import kernel
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.records import Shard


def ends_of(shard: Shard, indices: np.ndarray) -> np.ndarray:
    """Returns the ends of the games of the positions at `indices` ([B] int64): [B] int64, one past the last ply."""
    ends = np.cumsum(shard.lengths)
    return ends[np.searchsorted(ends, indices, side="right")]


@kernel
def write_returns(players, root_values, proven, outcomes, indices, ends, value_lambda, results):
    """Writes, for each position of `indices` ([B] int64), the return as chances of win, draw and loss:

        v(t) = (1 - lambda) q(t) + lambda v(t+1),  v(end) = z

    computed backwards from the end of its game, for the player to move at the position. This is TD(lambda) with the
    search's values q. A value q is a win with chance (1 + q) / 2, else a loss. If the result of ply t is proven, v(t)
    is this result instead.

    Args:
      players, root_values, proven, outcomes: of all positions, as in `Shard`.
      ends: [B] int64, from `ends_of`.
      results: [B, 3] floats, zeros at first; the output. A row sums to 1.

    Source: Sutton, Learning to predict by the methods of temporal differences (1988); with values of a search,
    Willemsen et al., Value targets in off-policy AlphaZero (2020).
    """
    for row in range(len(indices)):
        index, chances = indices[row], results[row]
        own = 1 - 2 * players[index]
        chances[1 - own * outcomes[index]] = 1.0
        for ply in range(ends[row] - 1, index - 1, -1):
            sign = 1 if players[ply] == players[index] else -1
            if proven[ply] != UNPROVEN:
                chances[:] = 0.0
                chances[1 - sign * proven[ply]] = 1.0
            else:
                chances *= value_lambda
                chances[0] += (1.0 - value_lambda) * (1.0 + sign * root_values[ply]) / 2.0
                chances[2] += (1.0 - value_lambda) * (1.0 - sign * root_values[ply]) / 2.0
