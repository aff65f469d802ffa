"""Returns: what a position is worth by the search's values at the plies to come, and by the result at the end."""

import numpy as np

from azero.compiler.jit import kernel
from azero.selfplay.data.records import Shard


def ends_of(shard: Shard, indices: np.ndarray) -> np.ndarray:
    """Returns where the games of the positions at `indices` ([B] int64) end: [B] int64, one behind the last ply."""
    ends = np.cumsum(shard.lengths)
    return ends[np.searchsorted(ends, indices, side="right")]


@kernel
def write_returns(players, root_values, outcomes, indices, ends, share, is_with_own, returns):
    """Writes, for each position of `indices` ([B] int64) and its player to move, the return

        v(t) = share q(t) + (1 - share) v(t+1),  v(end) = z

    from the end of its game backwards, or v(t+1) where its own q(t) is not to be heard. This is TD(lambda) with lambda
    = 1 - share, in which each ply's value is the search's own.

    Args:
      players, root_values, outcomes: of all positions, as in `Shard`.
      ends: [B] int64, as `ends_of` has them.
      returns: [B] floats in [-1, 1].

    Source: Sutton, Learning to predict by the methods of temporal differences (1988); with values of a search,
    Willemsen et al., Value targets in off-policy AlphaZero (2020).
    """
    for row in range(len(indices)):
        index = indices[row]
        value = outcomes[index] * (1.0 - 2.0 * players[index])
        for ply in range(ends[row] - 1, index - is_with_own, -1):
            sign = 1.0 if players[ply] == players[index] else -1.0
            value += share * (sign * root_values[ply] - value)
        returns[row] = value
