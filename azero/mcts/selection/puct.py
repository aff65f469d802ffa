"""PUCT: selection by value and prior. The prior's weight falls as a child gets visits."""

import math
from typing import NamedTuple

from azero.config.schema import SearchConfig

_DEFAULTS = SearchConfig()


class Puct(NamedTuple):
    """PUCT of AlphaGo Zero [1] and AlphaZero [2]: selects the child with the greatest Q(s, a) + U(s, a),

        U(s, a) = c(s) P(s, a) sqrt(N(s)) / (1 + N(s, a))
        c(s)    = c_puct + c_puct_factor ln((1 + N(s) + c_puct_base) / c_puct_base)

    N(s) includes the visit that evaluated s itself, so the prior counts on the first descent already. A factor of 0
    gives AlphaGo Zero's constant, a factor of 1 AlphaZero's growth.

    First-play urgency: the Q of an unvisited child is Q(s) - fpu_reduction sqrt(sum of the visited children's
    priors) [3]. If `is_fpu_absolute`, it is `fpu_value`.

    Source:
      [1] Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods.
      [2] Silver et al., A general reinforcement learning algorithm ..., Science 362 (2018), pseudocode.
      [3] First-play urgency as in Leela Zero and KataGo (Wu 2019).
    """

    c_puct: float = _DEFAULTS.c_puct
    c_puct_base: float = _DEFAULTS.c_puct_base
    c_puct_factor: float = _DEFAULTS.c_puct_factor
    is_fpu_absolute: bool = _DEFAULTS.fpu == "absolute"
    fpu_value: float = _DEFAULTS.fpu_value
    fpu_reduction: float = _DEFAULTS.fpu_reduction

    def is_sweeping(selection):
        return False

    def exploration(selection, parent_visits, depth, length):
        growth = math.log((1.0 + parent_visits + selection.c_puct_base) / selection.c_puct_base)
        return (selection.c_puct + selection.c_puct_factor * growth) * math.sqrt(parent_visits)

    def first_play_value(selection, parent_value, visited_prior):
        if selection.is_fpu_absolute:
            return selection.fpu_value
        return parent_value - selection.fpu_reduction * math.sqrt(visited_prior)

    def score(selection, exploration, visits, value, prior):
        return value + exploration * prior / (1 + visits)

    @classmethod
    def from_config(cls, config: SearchConfig) -> "Puct":
        """Returns the rule that a run's settings describe."""
        named = {name: getattr(config, name) for name in cls._fields if name in SearchConfig.model_fields}
        return cls(**named, is_fpu_absolute=config.fpu == "absolute")
