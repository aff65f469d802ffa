"""The choice of pairings: those whose games tell most about the ratings of the pool."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from azero.arena.ratings.model import Posterior


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
