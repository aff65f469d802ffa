"""The choice of pairings: those whose games tell most about the ratings of the pool."""

from collections import Counter

import numpy as np

from azero.arena.ratings.model import Posterior


def choose_pairings(posterior: Posterior, num_pairs: int) -> dict[tuple[int, int], int]:
    """Returns the next pairs of games: how many each two agents i < j play.

    Each pair of games is the one that gains most information on all ratings together, given those chosen before:

        gain = 1/2 log(1 + I var(t_i - t_j)),      I = s (1 - s) / phi

    This is the fall of the posterior's entropy, which sequential D-optimal designs maximise [1]. It does not depend on
    the anchor. It is large for agents of similar strength whose difference is uncertain.

    Source:
      [1] Chaloner and Verdinelli, Bayesian experimental design: a review, Statistical Science 10 (1995).
    """
    covariance, information = posterior.covariance.copy(), posterior.information
    above = np.triu_indices(len(covariance), 1)
    chosen: Counter[tuple[int, int]] = Counter()
    for _ in range(num_pairs):
        own = np.diag(covariance)
        gains = information * (own[:, None] + own[None, :] - 2.0 * covariance)
        best = int(np.argmax(gains[above]))
        i, j = int(above[0][best]), int(above[1][best])
        chosen[i, j] += 1
        column = covariance[:, i] - covariance[:, j]  # by Sherman and Morrison: the pair adds I (e_i - e_j)(e_i - e_j)'
        covariance -= np.outer(column, column) / (1.0 / information[i, j] + column[i] - column[j])
    return dict(sorted(chosen.items()))
