"""Selection rules: how a simulation picks its way down. A rule is a NamedTuple of its constants.

    is_sweeping()                      whether unvisited children go first, in random order
    exploration(N(s), depth, length)   what is the same for all children of s, computed once
    first_play_value(Q(s), visited_P)  Q(s, a) of an unvisited child; visited_P is the prior of the visited ones
    score(exploration, N(s, a), Q(s, a), P(s, a))

Q is in [-1, 1], for the player to move at s, which lies `depth` plies below the root; `length` is how many plies a
game from the root is expected to last, for rules that ask for it (`needs_length`), else 0.
"""

import math
from typing import NamedTuple

import numpy as np

from azero.config import C_UCT, SearchConfig
from azero.jit import bind_methods

bind_methods(
    is_sweeping=(),
    exploration=("parent_visits", "depth", "length"),
    first_play_value=("parent_value", "visited_prior"),
    score=("exploration", "visits", "value", "prior"),
)


# ln N(s) of most nodes; to compute it anew at each of them was a tenth of a search.
_LOGARITHMS = np.array([0.0, *(math.log(visits) for visits in range(1, 1 << 12))])


class Uct(NamedTuple):
    """UCB1 applied to trees [1], [2]: every child once, in random order, then the greatest

        Q(s, a) + c sqrt(ln N(s) / N(s, a))

    Q is a mean of results in [-1, 1], not a rate of wins in [0, 1]: a constant for win rates is doubled here. UCB1's
    own sqrt(2 ln N / n) is c = 2.83, and so is C_p = 1 / sqrt 2. The default of 1 is sqrt(ln N / n) / 2 on rates of
    wins, which is C_p = 1 / 4, or K = 1.12; docs/lab.md says what speaks for it.

    Source:
      [1] Auer, Cesa-Bianchi & Fischer, Finite-time analysis of the multiarmed bandit problem (2002), UCB1.
      [2] Kocsis & Szepesvari, Bandit based Monte-Carlo planning (2006), section 2.
      [3] Sensei's Library, UCT for Monte Carlo computer Go.
    """

    c: float = C_UCT

    @classmethod
    def of_bias(cls, C_p: float) -> "Uct":
        """Returns the rule with the bias 2 C_p sqrt(ln t / s) on rates of wins ([2], section 2.3)."""
        return cls(4.0 * C_p)

    @classmethod
    def of_win_rate(cls, K: float) -> "Uct":
        """Returns the rule `winrate + K sqrt(ln N / (5 n))` ([3])."""
        return cls(2.0 * K / math.sqrt(5.0))

    def is_sweeping(rule):
        return True

    def exploration(rule, parent_visits, depth, length):
        is_known = parent_visits < len(_LOGARITHMS)
        return rule.c * rule.c * (_LOGARITHMS[parent_visits] if is_known else math.log(parent_visits))

    def first_play_value(rule, parent_value, visited_prior):
        return 0.0

    def score(rule, exploration, visits, value, prior):
        return value + math.sqrt(exploration / visits)


class DepthBias(NamedTuple):
    """UCT whose bias shrinks with the depth d of a node, below which results vary less: the greatest

        Q(s, a) + c (ln N(s) / N(s, a))^((D + d) / (2 D + d))

    D is how many plies a game from the node is expected to last. At the root the exponent is 1 / 2, as in UCB1; it goes
    to 1 where the game ends.

    Source: Kocsis & Szepesvari (2006), section 2.1, whose c is 1 on rates of wins.
    """

    c: float = 2.0

    def is_sweeping(rule):
        return True

    def exploration(rule, parent_visits, depth, length):
        left = max(length - depth, 1.0)
        return math.log(max(parent_visits, 1)), (left + depth) / (2.0 * left + depth)

    def first_play_value(rule, parent_value, visited_prior):
        return 0.0

    def score(rule, exploration, visits, value, prior):
        logarithm, exponent = exploration
        return value + rule.c * (logarithm / visits) ** exponent


class Puct(NamedTuple):
    """PUCT, as AlphaGo Zero [1] and AlphaZero [2] have it: the greatest Q(s, a) + U(s, a),

        U(s, a) = c(s) P(s, a) sqrt(N(s)) / (1 + N(s, a))
        c(s)    = c_puct + c_puct_factor ln((1 + N(s) + c_puct_base) / c_puct_base)

    N(s) counts the visit that evaluated s itself, so the prior is heard on the first descent already. A factor of 0
    is AlphaGo Zero's constant, 1 is AlphaZero's growth. An unvisited child is worth Q(s) less fpu_reduction times
    the root of the prior already visited [3], or `fpu_value` where `is_fpu_absolute`.

    Source:
      [1] Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods.
      [2] Silver et al., A general reinforcement learning algorithm ..., Science 362 (2018), pseudocode.
      [3] First-play urgency as in Leela Zero and KataGo (Wu 2019).
    """

    c_puct: float = 1.25
    c_puct_base: float = 19652.0
    c_puct_factor: float = 1.0
    is_fpu_absolute: bool = False
    fpu_value: float = 0.0
    fpu_reduction: float = 0.2

    def is_sweeping(rule):
        return False

    def exploration(rule, parent_visits, depth, length):
        growth = math.log((1.0 + parent_visits + rule.c_puct_base) / rule.c_puct_base)
        return (rule.c_puct + rule.c_puct_factor * growth) * math.sqrt(parent_visits)

    def first_play_value(rule, parent_value, visited_prior):
        if rule.is_fpu_absolute:
            return rule.fpu_value
        return parent_value - rule.fpu_reduction * math.sqrt(visited_prior)

    def score(rule, exploration, visits, value, prior):
        return value + exploration * prior / (1 + visits)

    @classmethod
    def from_config(cls, config: SearchConfig) -> "Puct":
        """Returns the rule of a run's settings."""
        return cls(
            c_puct=config.c_puct,
            c_puct_base=config.c_puct_base,
            c_puct_factor=config.c_puct_factor,
            is_fpu_absolute=config.fpu == "absolute",
            fpu_value=config.fpu_value,
            fpu_reduction=config.fpu_reduction,
        )


Rule = Uct | DepthBias | Puct


def needs_length(rule: Rule) -> bool:
    """Returns whether a rule asks how long a game from the root will last."""
    return isinstance(rule, DepthBias)


def rule_from_config(config: SearchConfig) -> Rule:
    """Returns the selection rule of a run's settings."""
    return Uct(config.c_uct) if config.selection == "uct" else Puct.from_config(config)
