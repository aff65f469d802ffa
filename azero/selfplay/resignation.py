"""Resignation: when a player gives a game up, and the threshold that keeps the errors among such games few.

A player resigns where the search's value of the position and that of its best move both lie below a threshold: so
does the better of them, which is on record as the position's `resign_values`. In a share of the games nobody resigns:
they are played on to the end, and tell at each threshold who would have resigned, and whether that would have been an
error, since the game was won or drawn after all.

Source: Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods, "Self-play". There
the errors are few, too, but not said of what they are a share: here, of the games that would have been resigned.
"""

from collections.abc import Sequence

import numpy as np

from azero.compiler.jit import kernel
from azero.selfplay.data.records import Shard

NOBODY = -1.0
"""The threshold at which nobody resigns: no value lies below it."""

THRESHOLDS = np.arange(-99, 1) / 100
"""Those to choose from, [T] float64, ascending: nobody gives up a game that is as likely won as lost."""


def choose_threshold(shards: Sequence[Shard], error_share: float) -> float:
    """Returns the highest threshold at which errors, and one more, are less than `error_share` of the resigned games.

    It follows from the games that were played on alone; where they do not tell of any, it is `NOBODY`. One more, since
    the highest of many thresholds is one whose games were lucky; so 5 % are not told from 20 games or fewer.
    """
    resigned, errors = count_resignations(shards, THRESHOLDS)
    is_good = errors + 1 < error_share * resigned
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
        _count(shard.resign_values, shard.results(), shard.lengths, shard.played_on, thresholds, resigned, errors)
    return resigned, errors


@kernel
def _count(resign_values, results, lengths, played_on, thresholds, resigned, errors):
    """Adds a shard's games to `resigned` and `errors`: at each threshold the first player who falls below it."""
    end = 0
    for place in range(len(lengths)):
        begin, end = end, end + lengths[place]
        num_open = len(thresholds) if played_on[place] else 0  # at so many, the lowest, nobody has resigned so far
        for ply in range(begin, end):
            while num_open > 0 and float(resign_values[ply]) < thresholds[num_open - 1]:
                num_open -= 1
                resigned[num_open] += 1
                errors[num_open] += results[ply] >= 0
