"""The Elo of settings along a path from weak to strong, as a smooth rising curve, and levels at equal steps on it.

`levels.py` plays the games. A player is `random`, `full` (full strength), or a place on the path, e.g. `2.50`.
"""

import numpy as np

from azero.arena.agents.levels.level import MOST_LEVELS
from azero.arena.ratings.model import ELO

RANDOM, FULL = "random", "full"
KNOTS = np.arange(0, 8.25, 0.5)
"""Places on the path between which the curve is straight; the path ends at the last one."""

ROUGHNESS = 40.0  # Elo by which the curve bends at a knot, as a standard deviation
LEAST_STEP, BEST_STEP, MOST_STEP = 100.0, 120.0, 150.0  # Elo between levels: 64 %, 67 % and 70 %


def curve_of(pairs: list[list]) -> tuple[np.ndarray, float]:
    """Returns the Elo above random of the places KNOTS, which never falls, and that of full strength.

    A pair's score has the mean 1 / (1 + exp(t_b - t_a)). The curve's ratings t maximise the likelihood times a normal
    prior of the curve's bends [1], by Newton's method.

    Args:
      pairs: pairs of games, as [a, b, score of a].

    Source:
      [1] Eilers and Marx, Flexible smoothing with B-splines and penalties, Statistical Science 11 (1996).
    """
    num = len(KNOTS)

    def row(name: str) -> np.ndarray:
        if name == RANDOM:
            return np.zeros(num + 1)
        if name == FULL:
            return np.eye(num + 1)[num]
        return np.append([np.interp(float(name), KNOTS, unit) for unit in np.eye(num)], 0.0)

    X = np.array([row(a) - row(b) for a, b, _ in pairs])  # [pairs, knots + 1]
    y = np.array([score for _, _, score in pairs])
    bends = np.diff(np.eye(num + 1)[:num], 2, axis=0) * ELO / ROUGHNESS
    penalty = bends.T @ bends + 1e-3 * np.eye(num + 1)
    t = np.zeros(num + 1)
    for _ in range(50):
        s = 1 / (1 + np.exp(-X @ t))
        precision = 2 * X.T @ (X * (s * (1 - s))[:, None]) + penalty  # a pair is two games
        t += np.clip(np.linalg.solve(precision, 2 * X.T @ (y - s) - penalty @ t), -1, 1)
    return np.maximum.accumulate(ELO * t[:num]), float(ELO * t[num])


def spread_levels(pairs: list[list]) -> list[str]:
    """Returns the players that are to be the levels, weakest first; the last one is full strength."""
    curve, full = curve_of(pairs)
    span = full - max(float(curve[0]), BEST_STEP)
    num_steps = int(np.clip(round(span / BEST_STEP), 1, MOST_LEVELS - 1))
    if span / num_steps < LEAST_STEP:
        num_steps = max(1, num_steps - 1)
    step = min(span / num_steps, MOST_STEP)
    wanted = [full - step * k for k in range(num_steps, 0, -1)]
    rising = curve + 1e-3 * np.arange(len(curve))
    return [*dict.fromkeys(f"{float(np.interp(each, rising, KNOTS)):.2f}" for each in wanted), FULL]
