"""UCT: upper confidence bounds applied to trees, and a variant whose bias shrinks with the depth of a node."""

import math
from typing import NamedTuple

import numpy as np

from azero.config.schema import C_UCT

# ln N(s) of most nodes. Computing it at each node took a tenth of a search's time.
_LOGARITHMS = np.array([0.0, *(math.log(visits) for visits in range(1, 1 << 12))])


class Uct(NamedTuple):
    """UCB1 applied to trees [1], [2]: visits every child once, in random order, then the child with the greatest

        Q(s, a) + c sqrt(ln N(s) / N(s, a))

    Q is a mean of results in [-1, 1], not a win rate in [0, 1], so constants for win rates are doubled here. UCB1's
    own sqrt(2 ln N / n) is c = 2.83; so is C_p = 1 / sqrt 2. The default c = 1 is sqrt(ln N / n) / 2 on win rates, or
    C_p = 1 / 4, or K = 1.12. docs/lab.md has the reasons for it.

    Source:
      [1] Auer, Cesa-Bianchi & Fischer, Finite-time analysis of the multiarmed bandit problem (2002), UCB1.
      [2] Kocsis & Szepesvari, Bandit based Monte-Carlo planning (2006), section 2.
      [3] Sensei's Library, UCT for Monte Carlo computer Go.
    """

    c: float = C_UCT

    @classmethod
    def of_bias(cls, C_p: float) -> "Uct":
        """Returns the rule with the bias 2 C_p sqrt(ln t / s) on win rates ([2], section 2.3)."""
        return cls(4.0 * C_p)

    @classmethod
    def of_win_rate(cls, K: float) -> "Uct":
        """Returns the rule `winrate + K sqrt(ln N / (5 n))` ([3])."""
        return cls(2.0 * K / math.sqrt(5.0))

    def is_sweeping(selection):
        return True

    def exploration(selection, parent_visits, depth, length):
        is_known = parent_visits < len(_LOGARITHMS)
        return selection.c * selection.c * (_LOGARITHMS[parent_visits] if is_known else math.log(parent_visits))

    def first_play_value(selection, parent_value, visited_prior):
        return 0.0

    def score(selection, exploration, visits, value, prior):
        return value + math.sqrt(exploration / visits)


class DepthBias(NamedTuple):
    """UCT whose bias shrinks with the depth d of a node, since results vary less below deep nodes: the greatest

        Q(s, a) + c (ln N(s) / N(s, a))^((D + d) / (2 D + d))

    D is the expected number of plies of a game from the node. At the root the exponent is 1 / 2, as in UCB1. It goes
    to 1 towards the end of the game.

    Source: Kocsis & Szepesvari (2006), section 2.1. Their c is 1 on win rates.
    """

    c: float = 2.0

    def is_sweeping(selection):
        return True

    def exploration(selection, parent_visits, depth, length):
        left = max(length - depth, 1.0)
        return math.log(max(parent_visits, 1)), (left + depth) / (2.0 * left + depth)

    def first_play_value(selection, parent_value, visited_prior):
        return 0.0

    def score(selection, exploration, visits, value, prior):
        logarithm, exponent = exploration
        return value + selection.c * (logarithm / visits) ** exponent
