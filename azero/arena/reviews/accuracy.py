"""From losses to marks and to accuracy.

A loss is a difference of two values, from 0 to 2: the value after the best move, minus the value after the move played.
In points it is from 0 to 100, as a win scores 100 and a loss 0. The marks are those of lichess, which are at 0.1, 0.2
and 0.3 of the difference between the chances to win and to lose. The constants of the accuracy were fitted to games of
chess. In other games it compares players, and does not tell how well they play.

Source: lichess.org/page/accuracy for the accuracy of a move; the means, the weights and the thresholds are those of
lichess's server, lila (AccuracyPercent.scala, Advice.scala).
"""

from collections.abc import Sequence

import numpy as np

INACCURACY, MISTAKE, BLUNDER = "?!", "?", "??"
"""Marks of moves that lose something."""

ONLY_MOVE = "!"
"""The mark of a best move if every other move would be a blunder."""

THRESHOLDS = {BLUNDER: 0.3, MISTAKE: 0.2, INACCURACY: 0.1}
"""The least loss of each mark."""

_CLOSE = 1e-9  # rounding: a loss of exactly 0.1 has its mark
_DECIDED = 0.9  # a value that another one beyond it does not make much better or worse
_A, _B, _C = 103.1668, 0.04354, 3.1669
_FEWEST_IN_WINDOW, _MOST_IN_WINDOW, _WINDOWS = 2, 8, 10
_LEAST_VOLATILITY, _MOST_VOLATILITY = 0.5, 12.0


def mark_of(best: float, played: float, gives_away: bool) -> str:
    """Returns the mark of a move; empty for none.

    Args:
      best: the value after the best move, in [-1, 1], for the player who moves.
      played: the value after the move that was played.
      gives_away: whether a proven win or draw was given away by proof. This is a blunder in any case.
    """
    if gives_away:
        return BLUNDER
    if min(best, played) > _DECIDED or max(best, played) < -_DECIDED:
        return ""
    return next((mark for mark, least in THRESHOLDS.items() if best - played >= least - _CLOSE), "")


def accuracy_of(losses: Sequence[float], volatilities: Sequence[float]) -> float | None:
    """Returns a player's accuracy in [0, 100]: the mean of the weighted and of the harmonic mean of the moves'.

    Args:
      losses: of the player's moves, each in [0, 2].
      volatilities: the weights of these moves.

    Returns None if there are no moves.
    """
    if not losses:
        return None
    accuracies = np.clip(_A * np.exp(-_B * 50.0 * np.array(losses)) - _C + 1.0, 0.0, 100.0)
    harmonic = len(losses) / float(np.sum(1.0 / np.maximum(accuracies, 1.0)))
    return (float(np.average(accuracies, weights=volatilities)) + harmonic) / 2.0


def volatilities_of(values: Sequence[float]) -> list[float]:
    """Returns the weight of each move of a game: how much the values vary around it.

    Args:
      values: [n + 1] the value of each position, all for the same player, in [-1, 1].

    Returns:
      [n] the standard deviation of the values, in points, of some positions before the move and the one after it.
    """
    points = 50.0 * np.array(values)
    size = min(max((len(points) - 1) // _WINDOWS, _FEWEST_IN_WINDOW), _MOST_IN_WINDOW)
    ends = (max(ply + 2, size) for ply in range(len(points) - 1))
    return [min(max(float(np.std(points[end - size : end])), _LEAST_VOLATILITY), _MOST_VOLATILITY) for end in ends]


def points(loss: float) -> float:
    """Returns a loss in points, from 0 to 100."""
    return 50.0 * loss
