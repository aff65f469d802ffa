"""Selection rules: how a simulation selects children on its way down. A rule is a NamedTuple of its constants.

    is_sweeping()                      whether unvisited children go first, in random order
    exploration(N(s), depth, length)   the part of the score that all children of s share; computed once per node
    first_play_value(Q(s), visited_P)  Q(s, a) of an unvisited child; visited_P is the sum of the visited ones' priors
    score(exploration, N(s, a), Q(s, a), P(s, a))
                                       the score of a child; the greatest score is selected

Q is in [-1, 1], for the player to move at s. `depth` is the number of plies from the root to s. `length` is the
expected number of plies of a game from the root, for rules that need it (`needs_length`), else 0.

A rule needs at least one field, and no field may have the name of a method that kernels call. Methods allocate nothing.
"""

from typing import Any, Protocol

from azero.compiler.jit import bind_methods
from azero.config.schema import SearchConfig
from azero.mcts.selection.puct import Puct
from azero.mcts.selection.uct import DepthBias, Uct

bind_methods(
    is_sweeping=(),
    exploration=("parent_visits", "depth", "length"),
    first_play_value=("parent_value", "visited_prior"),
    score=("exploration", "visits", "value", "prior"),
)


class Selection(Protocol):
    """A selection rule; see the module's docstring."""

    def is_sweeping(selection) -> bool: ...
    def exploration(selection, parent_visits: int, depth: int, length: float) -> Any: ...
    def first_play_value(selection, parent_value: float, visited_prior: float) -> float: ...
    def score(selection, exploration: Any, visits: int, value: float, prior: float) -> float: ...


def needs_length(selection: Selection) -> bool:
    """Returns whether a rule needs the expected length of a game from the root."""
    return isinstance(selection, DepthBias)


def selection_from_config(config: SearchConfig) -> Selection:
    """Returns the selection rule that a run's settings describe."""
    return Uct(config.c_uct) if config.selection == "uct" else Puct.from_config(config)
