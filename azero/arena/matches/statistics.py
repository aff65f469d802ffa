"""Statistics of a match: the score with its interval, the Elo difference, and a sequential test.

Games are played in pairs, from one opening with colours swapped. The two games of a pair are dependent, because they
share the opening, so statistics count pairs. The score of a pair is the mean of its two games for A, in
{0, 1/4, 1/2, 3/4, 1}.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from azero.errors import BadInput

# Prior: one lost and one won pair are added wherever a variance is measured. Otherwise few pairs, or pairs with equal
# scores, could have variance zero. The prior does not change the score itself.
PRIOR_PAIRS = (0.0, 1.0)


@dataclass(frozen=True)
class Tally:
    """Wins, draws and losses of a match, from A's side."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """A's share of the points, in [0, 1]; a draw is half a point. Needs at least one game."""
        return (self.wins + self.draws / 2) / self.games


def score_interval(pair_scores: Sequence[float] | np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """Returns the ends of the confidence interval of A's score, both in [0, 1]. The score lies between them.

    Wilson's interval [1] with the effective sample size m of the n pairs [2]:

        m = n s (1 - s) / var
        (s + z^2 / 2m  +-  z sqrt(s (1 - s) / m + z^2 / 4m^2)) / (1 + z^2 / m)

    s is the score. var / (s (1 - s)), measured with the prior pairs, is 1 if each pair has two wins or two losses; the
    interval is then Wilson's own. It is 1/2 for independent games without draws, and less with draws. Without the
    prior pairs it would be 0 / 0 if all pairs are won.

    Args:
      pair_scores: [n] the pairs' scores in [0, 1], n >= 1.
      confidence: in (0, 1), the probability that such an interval contains the true score.

    Raises:
      BadInput: no pairs, a score outside [0, 1], or a confidence outside (0, 1).

    Source:
      [1] Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
      [2] Franco, Little, Louis, Slud, Comparative study of confidence intervals for proportions in complex sample
          surveys, J. Survey Statistics and Methodology 7 (2019): Wilson with the effective sample size.
    """
    if not 0.0 < confidence < 1.0:
        raise BadInput(f"confidence = {confidence} should be between 0 and 1, e.g. 0.95")
    scores = _checked(pair_scores)
    if scores.size == 0:
        raise BadInput("the interval of a score needs at least one pair of games, not 0")

    s = float(scores.mean())
    padded = np.append(scores, PRIOR_PAIRS)
    m = scores.size * float(padded.mean() * (1.0 - padded.mean()) / padded.var())
    z = NormalDist().inv_cdf((1.0 + confidence) / 2.0)

    centre = (s + z**2 / (2 * m)) / (1 + z**2 / m)
    half_width = z * math.sqrt(s * (1 - s) / m + z**2 / (4 * m**2)) / (1 + z**2 / m)
    # Only rounding can bring the formula outside [0, 1] or s outside the interval.
    return max(0.0, min(s, centre - half_width)), min(1.0, max(s, centre + half_width))


def score_from_elo(elo: float) -> float:
    """Returns the expected score in [0, 1] of a player who is elo points stronger: 1 / (1 + 10^(-elo / 400))."""
    return (1.0 + math.tanh(elo * math.log(10.0) / 800.0)) / 2.0  # the same formula, without overflow


def elo_from_score(score: float) -> float:
    """Returns the logistic Elo difference 400 log10(s / (1 - s)) of a score s: -inf at 0 and inf at 1."""
    if not 0.0 <= score <= 1.0:
        raise BadInput(f"a score should be from 0 to 1, not {score}")
    if score in (0.0, 1.0):
        return math.copysign(math.inf, score - 0.5)
    return 400.0 * math.log10(score / (1.0 - score))


def elo_interval(pair_scores: Sequence[float] | np.ndarray, confidence: float = 0.95) -> tuple[float, float]:
    """Returns the ends of score_interval as Elo differences. One of them is infinite if A won or lost every game."""
    low, high = score_interval(pair_scores, confidence)
    return elo_from_score(low), elo_from_score(high)


def finite_or_none(value: float) -> float | None:
    """Returns a finite value, or None for others. JSON has no infinity; None is written as null."""
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Sprt:
    """Wald's sequential test [1] of H1 "A is elo1 stronger" against H0 "A is elo0 stronger", on pairs.

    Play pairs until `decide` answers. If A is elo0 stronger, the test accepts H1 with probability at most about alpha.
    If A is elo1 stronger, the test rejects H1 with probability at most about beta. It takes longest between the two.

    Args:
      elo0, elo1: logistic Elo differences, elo0 < elo1.
      alpha, beta: the two error rates, each in (0, 1/2).

    Source:
      [1] Wald, Sequential tests of statistical hypotheses, Annals of Mathematical Statistics 16 (1945).
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not self.elo0 < self.elo1:
            raise BadInput(f"elo0 = {self.elo0} should be less than elo1 = {self.elo1}")
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 < rate < 0.5:
                raise BadInput(f"{name} = {rate} should be between 0 and 0.5, e.g. 0.05")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which H1 is rejected and accepted, (negative, positive)."""
        return math.log(self.beta / (1.0 - self.alpha)), math.log((1.0 - self.beta) / self.alpha)

    def llr(self, pair_scores: Sequence[float] | np.ndarray) -> float:
        """Returns the generalized log-likelihood ratio of H1 to H0 in normal approximation [1]; 0 without pairs.

            LLR = n (s1 - s0) (2 s - s0 - s1) / (2 var)

        [1] takes var around the pairs' own score s. We take the mean of var around s0 and around s1, with the prior
        pairs. If s0 and s1 are close, both are the same. If they are far apart, ours keeps a few lucky pairs, whose own
        variance is small, from deciding. Example: testing 200 Elo against 0, if both games of a pair always end alike,
        ours has 6 % false accepts instead of 12 %.

        Args:
          pair_scores: [n] the pairs' scores in [0, 1].

        Source:
          [1] Van den Bergh, hardy.uhasselt.be/Toga/GSPRT_approximation.pdf; as fishtest, for pairs.
        """
        scores = _checked(pair_scores)
        s0, s1 = score_from_elo(self.elo0), score_from_elo(self.elo1)
        padded = np.append(scores, PRIOR_PAIRS)
        var = np.mean((padded - s0) ** 2 + (padded - s1) ** 2) / 2
        return float((s1 - s0) * np.sum(2 * scores - s0 - s1) / (2 * var))

    def decide(self, pair_scores: Sequence[float] | np.ndarray) -> Literal["accept", "reject"] | None:
        """Returns the decision on H1 from all pairs so far; None: play on. The test ends with the first decision."""
        low, high = self.bounds
        llr = self.llr(pair_scores)
        return "accept" if llr >= high else "reject" if llr <= low else None


def _checked(pair_scores: Sequence[float] | np.ndarray) -> np.ndarray:
    """Returns the pairs' scores as [n] float64, each in [0, 1]; raises BadInput."""
    scores = np.asarray(pair_scores, dtype=np.float64)
    wrong = scores[~((scores >= 0.0) & (scores <= 1.0))]
    if wrong.size > 0:
        raise BadInput(f"a pair's score should be from 0 to 1, not {wrong[0]}")
    return scores
