"""Selection rules: how a simulation picks its way down. A rule is a NamedTuple of its constants.

    is_sweeping()                      whether unvisited children go first, in random order
    exploration(N(s), depth, length)   what is the same for all children of s, computed once
    first_play_value(Q(s), visited_P)  Q(s, a) of an unvisited child; visited_P is the prior of the visited ones
    score(exploration, N(s, a), Q(s, a), P(s, a))

Q is in [-1, 1], for the player to move at s, which lies `depth` plies below the root; `length` is how many plies a
game from the root is expected to last, for rules that ask for it (`needs_length`), else 0.
"""

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

Selection = Uct | DepthBias | Puct


def needs_length(selection: Selection) -> bool:
    """Returns whether a rule asks how long a game from the root will last."""
    return isinstance(selection, DepthBias)


def selection_from_config(config: SearchConfig) -> Selection:
    """Returns the selection rule of a run's settings."""
    return Uct(config.c_uct) if config.selection == "uct" else Puct.from_config(config)
