"""Returns: value targets made of the search's values at later plies and of the game's result."""

import numpy as np

from azero.compiler.jit import kernel
from azero.selfplay.data.records import Shard


def ends_of(shard: Shard, indices: np.ndarray) -> np.ndarray:
    """Returns the ends of the games of the positions at `indices` ([B] int64): [B] int64, one past the last ply."""
    ends = np.cumsum(shard.lengths)
    return ends[np.searchsorted(ends, indices, side="right")]


@kernel
def write_returns(players, root_values, outcomes, indices, ends, share, returns):
    """Writes, for each position of `indices` ([B] int64) and its player to move, the return

        v(t) = share q(t) + (1 - share) v(t+1),  v(end) = z

    computed backwards from the end of its game. This is TD(lambda) with lambda = 1 - share and the search's values.

    Args:
      players, root_values, outcomes: of all positions, as in `Shard`.
      ends: [B] int64, from `ends_of`.
      returns: [B] floats in [-1, 1], the output.

    Source: Sutton, Learning to predict by the methods of temporal differences (1988); with values of a search,
    Willemsen et al., Value targets in off-policy AlphaZero (2020).
    """
    for row in range(len(indices)):
        index = indices[row]
        value = outcomes[index] * (1.0 - 2.0 * players[index])
        for ply in range(ends[row] - 1, index - 1, -1):
            sign = 1.0 if players[ply] == players[index] else -1.0
            value += share * (sign * root_values[ply] - value)
        returns[row] = value
