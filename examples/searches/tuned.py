"""UCB1-tuned as a selection rule: explore a move less if its results vary little.

    Q(s, a) + c sqrt(ln N(s) / N(s, a) min(1, V(s, a))),    V = 1 - Q(s, a)^2 + 2 sqrt(2 ln N(s) / N(s, a))

azero's nodes keep no squares of values. If all values are wins and losses, 1 and -1, their variance is 1 - Q^2, so V is
the paper's, on a scale twice as long. For other values in [-1, 1], 1 - Q^2 is the greatest variance that they can have.

Source: Auer, Cesa-Bianchi & Fischer, Finite-time analysis of the multiarmed bandit problem (2002), section 4.
"""

import math
from typing import NamedTuple


class Tuned(NamedTuple):
    """UCB1-tuned. The paper has c = 2 on values in [-1, 1]; a net's values need less."""

    c: float = 1.0

    def is_sweeping(rule):
        return True  # every child is visited once before scores count

    def exploration(rule, parent_visits, depth, length):
        return math.log(max(parent_visits, 1))

    def first_play_value(rule, parent_value, visited_prior):
        return 0.0

    def score(rule, exploration, visits, value, prior):
        rate = exploration / visits
        variance = 1.0 - value * value + 2.0 * math.sqrt(2.0 * rate)
        return value + rule.c * math.sqrt(rate * min(1.0, variance))
