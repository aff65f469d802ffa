"""Resignation: when a player resigns, and the choice of a threshold that keeps wrong resignations rare.

A player resigns if the search's value of the position and the value of its best move are both below a threshold. The
greater of the two is stored in `resign_values`. In a share of the games nobody resigns: they are played to the end.
They show, for each threshold, who would have resigned. It would have been an error if that player has won or drawn.

Source: Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods, "Self-play". The
paper does not define the error rate's denominator. Here it is the games that would have been resigned.
"""

from collections.abc import Sequence

import numpy as np

from azero.compiler.jit import kernel
from azero.selfplay.data.records import Shard

NOBODY = -1.0
"""The threshold at which nobody resigns: no value is below it."""

THRESHOLDS = np.arange(-99, 1) / 100
"""Candidates, [T] float64, ascending. All are at most 0, so nobody resigns with an even chance."""


def choose_threshold(shards: Sequence[Shard], error_share: float) -> float:
    """Returns the highest threshold at which errors + 1 is less than `error_share` of the resigned games.

    Only games that were played on count. If there is no such threshold, it is `NOBODY`. One error is added because the
    highest of many thresholds is likely a lucky one. So an `error_share` of 5 % needs more than 20 resigned games.
    """
    resigned, errors = count_resignations(shards, THRESHOLDS)
    is_good = errors + 1 < error_share * resigned
    return float(THRESHOLDS[is_good][-1]) if is_good.any() else NOBODY


def describe_resignations(shards: Sequence[Shard], threshold: float) -> dict:
    """Returns metrics of an iteration's games. Errors are a share of the games that `threshold` would end early."""
    resigned, errors = count_resignations(shards, np.array([threshold]))
    return {
        "selfplay/resign_threshold": threshold,
        "selfplay/resigned": float(np.concatenate([shard.resigned for shard in shards]).mean()),
        "selfplay/resign_errors": float(errors[0] / max(1, resigned[0])),
    }


def count_resignations(shards: Sequence[Shard], thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counts, of the games that were played on, those that would have been resigned at each threshold.

    Args:
      thresholds: [T] float64, ascending.

    Returns:
      The number of such games, and of those that the resigning player has won or drawn; each [T] int64.
    """
    resigned, errors = np.zeros((2, len(thresholds)), np.int64)
    for shard in shards:
        _count(shard.resign_values, shard.results(), shard.lengths, shard.played_on, thresholds, resigned, errors)
    return resigned, errors


@kernel
def _count(resign_values, results, lengths, played_on, thresholds, resigned, errors):
    """Adds a shard's games to `resigned` and `errors`. At each threshold the first value below it counts."""
    end = 0
    for place in range(len(lengths)):
        begin, end = end, end + lengths[place]
        num_open = len(thresholds) if played_on[place] else 0  # number of thresholds, the lowest, without resignation
        for ply in range(begin, end):
            while num_open > 0 and float(resign_values[ply]) < thresholds[num_open - 1]:
                num_open -= 1
                resigned[num_open] += 1
                errors[num_open] += results[ply] >= 0
