"""Resignation: when a player gives a game up, and the threshold that keeps the errors among such games few.

A player resigns where the search's value of the position and that of its best move both lie below a threshold. In a
share of the games nobody does: they are played on to the end, and tell at each threshold who would have resigned, and
whether that would have been an error, since the game was won or drawn after all.

Source: Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods, "Self-play". There
the errors are few, too, but not said of what they are a share: here, of the games that would have been resigned.
"""

from collections.abc import Sequence

import numpy as np

from azero.jit import kernel, subroutine
from azero.selfplay.records import Shard

NOBODY = -1.0
"""The threshold at which nobody resigns: no value lies below it."""

THRESHOLDS = np.arange(-99, 1) / 100
"""Those to choose from, [T] float64, ascending: nobody gives up a game that is as likely won as lost."""

ENOUGH = 20
"""Games that would have been resigned, from which the share of errors is told; in fewer, 5 % is not even one."""


@subroutine
def is_hopeless(root_value, best_value, threshold):
    """Returns whether the player to move, for whom the values (float32) are, is to resign."""
    return max(float(root_value), float(best_value)) < threshold


def choose_threshold(shards: Sequence[Shard], error_share: float) -> float:
    """Returns the highest threshold at which errors are less than `error_share` of the games that are resigned.

    It follows from the games that were played on alone; where they do not tell of any, it is `NOBODY`.
    """
    resigned, errors = count_resignations(shards, THRESHOLDS)
    is_good = (resigned >= ENOUGH) & (errors < error_share * resigned)
    return float(THRESHOLDS[is_good][-1]) if is_good.any() else NOBODY


def describe_resignations(shards: Sequence[Shard], threshold: float) -> dict:
    """Returns figures of an iteration's games: errors are the share of what would have been resigned at `threshold`."""
    resigned, errors = count_resignations(shards, np.array([threshold]))
    return {
        "selfplay/resign_threshold": threshold,
        "selfplay/resigned": float(np.concatenate([shard.resigned for shard in shards]).mean()),
        "selfplay/resign_errors": float(errors[0] / max(1, resigned[0])),
    }


def count_resignations(shards: Sequence[Shard], thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns how many games that were played on would have ended at each of `thresholds` ([T] float64, ascending).

    Returns:
      Games that would have been resigned, and those of them that who resigns has won or drawn; each [T] int64.
    """
    resigned, errors = np.zeros((2, len(thresholds)), np.int64)
    for shard in shards:
        results = shard.results()
        _count(
            shard.root_values, shard.best_values, results, shard.lengths, shard.played_on, thresholds, resigned, errors
        )
    return resigned, errors


@kernel
def _count(root_values, best_values, results, lengths, played_on, thresholds, resigned, errors):
    """Adds a shard's games to `resigned` and `errors`: at each threshold the first player who finds it hopeless."""
    end = 0
    for place in range(len(lengths)):
        begin, end = end, end + lengths[place]
        num_open = len(thresholds) if played_on[place] else 0  # at so many, the lowest, nobody has resigned so far
        for ply in range(begin, end):
            while num_open > 0 and is_hopeless(root_values[ply], best_values[ply], thresholds[num_open - 1]):
                num_open -= 1
                resigned[num_open] += 1
                errors[num_open] += results[ply] >= 0
