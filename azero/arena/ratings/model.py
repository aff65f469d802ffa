"""The estimate of ratings, Bayesian Elo from the scores of pairs of games, and which games tell most about them.

Agents i and j have ratings t_i and t_j, in natural logarithms of odds. The score of a pair of games, in
{0, 1/4, 1/2, 3/4, 1}, has for i the mean and the variance

    s = 1 / (1 + exp(t_j - t_i)),      var = phi s (1 - s).

The mean is that of statistics.py, so a pool of two agents has the Elo of a match. The dispersion phi, measured on all
pairs, has the effect of draws and of openings: it is 1 if one agent wins both games of each pair, 1/2 for independent
games without draws, and less with draws or if openings decide games. Colours are swapped within a pair, so the first
player's advantage cancels. The ratings maximise the quasi-likelihood of this mean and variance [1] times a normal
prior.

Source:
  [1] Wedderburn, Quasi-likelihood functions, generalized linear models, and the Gauss-Newton method, Biometrika 61
      (1974). For paired comparisons, [1] with a logistic mean is the model of Bradley and Terry (1952).
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from azero.arena.matches.statistics import PRIOR_PAIRS

ELO = 400.0 / math.log(10.0)
"""Elo points of one unit of the ratings t."""

PRIOR_ELO = 1000.0
"""Standard deviation of the normal prior of the ratings, in Elo, before it is estimated."""

_PRIOR_AGENTS = 2  # number of agents that PRIOR_ELO counts for in the estimate of the spread
_ROUNDS = 10  # in which ratings, dispersion and spread are estimated in turn
_MOST_STEPS, _CLOSE = 100, 1e-9  # of Newton's method; the change of a rating at which it ends


class Scores(NamedTuple):
    """The pairs of games of n agents, as sums for each two of them, [n, n] float64; zero on the diagonal.

    Attributes:
      pairs: number of pairs between i and j; symmetric.
      points: sum of i's scores of these pairs.
      squares: sum of the squares of i's scores.
    """

    pairs: np.ndarray
    points: np.ndarray
    squares: np.ndarray

    @classmethod
    def none(cls, num_agents: int) -> "Scores":
        """Returns the scores before the first pair."""
        return cls(*np.zeros((3, num_agents, num_agents)))

    def add(self, a: int, b: int, score: float) -> None:
        """Adds a pair of games, whose score for `a` is in [0, 1]."""
        for i, j, own in ((a, b, score), (b, a, 1.0 - score)):
            self.pairs[i, j] += 1.0
            self.points[i, j] += own
            self.squares[i, j] += own**2


@dataclass(frozen=True)
class Posterior:
    """The ratings of n agents, in normal approximation (Laplace's).

    Attributes:
      mean: [n] float64, the ratings t.
      covariance: [n, n] float64, theirs.
      dispersion: phi.
      spread: standard deviation of the prior, in the unit of t.
    """

    mean: np.ndarray
    covariance: np.ndarray
    dispersion: float
    spread: float

    def elo(self, anchor: int) -> np.ndarray:
        """Returns the agents' Elo above the anchor, [n]."""
        return ELO * (self.mean - self.mean[anchor])

    def half_widths(self, anchor: int, confidence: float = 0.95) -> np.ndarray:
        """Returns the half widths of the intervals of `elo`, [n]. That of the anchor is 0."""
        variances = self.variances[anchor]
        return NormalDist().inv_cdf((1.0 + confidence) / 2.0) * ELO * np.sqrt(variances)

    @property
    def variances(self) -> np.ndarray:
        """The variances of the differences t_i - t_j, [n, n]."""
        own = np.diag(self.covariance)
        return np.maximum(own[:, None] + own[None, :] - 2.0 * self.covariance, 0.0)

    def chances_above(self, agent: int) -> np.ndarray:
        """Returns the probability that each agent is stronger than `agent`, [n]; 1/2 for itself."""
        differences = self.mean - self.mean[agent]
        deviations = np.sqrt(self.variances[agent])
        ratios = np.divide(differences, deviations, out=np.zeros_like(differences), where=deviations > 0)
        return np.array([NormalDist().cdf(ratio) for ratio in ratios])

    @property
    def information(self) -> np.ndarray:
        """What a pair of games between i and j is expected to add to the precision of t_i - t_j, [n, n].

        That is E[s (1 - s)] / phi over the posterior, about k s' (1 - s') / phi [1], where s' is the score for the
        difference k (t_i - t_j), and k = (1 + pi var(t_i - t_j) / 8)^(-1/2).

        Source:
          [1] MacKay, The evidence framework applied to classification networks, Neural Computation 4 (1992).
        """
        k = 1.0 / np.sqrt(1.0 + math.pi * self.variances / 8.0)
        s = expected_scores(self.mean, k)
        return k * s * (1.0 - s) / self.dispersion


def estimate(scores: Scores) -> Posterior:
    """Returns the ratings after these pairs of games. With no pair they are all 0, and as uncertain as the prior.

    The spread of the prior is estimated with them (empirical Bayes, by EM). A wider prior would leave the ratings of
    large pools too far apart, since agents that chance has driven apart meet less often again.
    """
    num_agents = len(scores.pairs)
    mean, dispersion, spread = np.zeros(num_agents), 1.0, PRIOR_ELO / ELO
    for _ in range(_ROUNDS):
        mean = _mode(scores, dispersion, spread, mean)
        dispersion = _dispersion(scores, mean)
        covariance = np.linalg.inv(_precision(scores, dispersion, spread, mean))
        posterior = Posterior(mean, covariance, dispersion, spread)
        squares = (mean**2).sum() + covariance.trace() + _PRIOR_AGENTS * (PRIOR_ELO / ELO) ** 2
        spread = math.sqrt(squares / (num_agents + _PRIOR_AGENTS))
    return posterior


def expected_scores(mean: np.ndarray, sharpness: np.ndarray | float = 1.0) -> np.ndarray:
    """Returns the expected scores of agents with these ratings, [n, n]; differences are multiplied by `sharpness`."""
    return (1.0 + np.tanh(sharpness * (mean[:, None] - mean[None, :]) / 2.0)) / 2.0


def _mode(scores: Scores, dispersion: float, spread: float, start: np.ndarray) -> np.ndarray:
    """Returns the ratings of greatest posterior density, by Newton's method with steps halved where necessary."""
    mean, density = start, _log_density(scores, dispersion, spread, start)
    for _ in range(_MOST_STEPS):
        residuals = scores.points - scores.pairs * expected_scores(mean)
        gradient = residuals.sum(1) / dispersion - mean * spread**-2
        step = np.linalg.solve(_precision(scores, dispersion, spread, mean), gradient)
        while (there := _log_density(scores, dispersion, spread, mean + step)) < density - 1e-9 * abs(density):
            step = step / 2.0
        mean, density = mean + step, there
        if np.abs(step).max() < _CLOSE:
            break
    return mean


def _log_density(scores: Scores, dispersion: float, spread: float, mean: np.ndarray) -> float:
    log_s = -np.logaddexp(0.0, mean[None, :] - mean[:, None])
    return float((scores.points * log_s).sum() / dispersion - spread**-2 * (mean**2).sum() / 2.0)


def _precision(scores: Scores, dispersion: float, spread: float, mean: np.ndarray) -> np.ndarray:
    """Returns the negative second derivatives of the log density, [n, n]."""
    s = expected_scores(mean)
    weights = scores.pairs * s * (1.0 - s) / dispersion
    return np.diag(weights.sum(1) + spread**-2) - weights


def _dispersion(scores: Scores, mean: np.ndarray) -> float:
    """Returns phi by Pearson's statistic: the squared residuals over s (1 - s), summed over the pairs.

    The pairs have lost n - 1 degrees of freedom to the ratings. The prior pairs keep few pairs, or draws alone, from
    giving too small a value.
    """
    s = expected_scores(mean)
    squares = float((scores.squares - 2.0 * s * scores.points + scores.pairs * s**2).sum()) / 2.0
    variances = float((scores.pairs * s * (1.0 - s)).sum()) / 2.0
    num_pairs = float(scores.pairs.sum()) / 2.0
    left = max(0.0, 1.0 - (len(mean) - 1) / num_pairs) if num_pairs else 0.0
    prior = len(PRIOR_PAIRS) * float(np.var(PRIOR_PAIRS))
    return (squares + prior) / (variances * left + prior)


def choose_pairings(
    posterior: Posterior, num_pairs: int, among: Sequence[tuple[int, int]] | None = None
) -> dict[tuple[int, int], int]:
    """Returns the next pairs of games: how many each two agents i, j play.

    Each pair of games is the one that gains most information on all ratings together, given those chosen before:

        gain = 1/2 log(1 + I var(t_i - t_j)),      I = E[s (1 - s)] / phi

    This is the fall of the posterior's entropy, which sequential D-optimal designs maximise [1]. It does not depend on
    the anchor. It is large for agents of similar strength whose difference is uncertain.

    Args:
      among: the pairings to choose from; by default all, with i < j.

    Source:
      [1] Chaloner and Verdinelli, Bayesian experimental design: a review, Statistical Science 10 (1995).
    """
    covariance, information = posterior.covariance.copy(), posterior.information
    allowed = list(combinations(range(len(covariance)), 2)) if among is None else list(among)
    firsts, seconds = (np.array(each) for each in zip(*allowed, strict=True))
    chosen: Counter[tuple[int, int]] = Counter()
    for _ in range(num_pairs):
        own = np.diag(covariance)
        gains = information * (own[:, None] + own[None, :] - 2.0 * covariance)
        i, j = allowed[int(np.argmax(gains[firsts, seconds]))]
        chosen[i, j] += 1
        column = covariance[:, i] - covariance[:, j]  # by Sherman and Morrison: the pair adds I (e_i - e_j)(e_i - e_j)'
        covariance -= np.outer(column, column) / (1.0 / information[i, j] + column[i] - column[j])
    return dict(sorted(chosen.items()))
