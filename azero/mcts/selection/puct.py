"""PUCT: the prior says which children are worth a look, the more so the fewer visits they have."""

import math
from typing import NamedTuple

from azero.config.schema import SearchConfig

_DEFAULTS = SearchConfig()


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
        """Returns the rule of a run's settings."""
        return cls(
            c_puct=config.c_puct,
            c_puct_base=config.c_puct_base,
            c_puct_factor=config.c_puct_factor,
            is_fpu_absolute=config.fpu == "absolute",
            fpu_value=config.fpu_value,
            fpu_reduction=config.fpu_reduction,
        )
