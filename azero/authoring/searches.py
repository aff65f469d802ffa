"""What the file of a user's search may import: azero's rules and roots, to be changed, and what they are made of.

docs/your_own_loop.md shows how. `azero check-search` checks a selection rule or a root strategy.
"""

from azero.compiler.jit import subroutine
from azero.compiler.rng import random_unit
from azero.games.contract import sign_of
from azero.mcts.roots.gumbel import GumbelRoot, best_child_of_visits
from azero.mcts.roots.ranking import (
    BY_BOUND,
    BY_VALUE,
    BY_VISITS,
    LEFT_TO_SELECTION,
    chosen_child,
    greedy_child,
    has_value,
    is_decided,
    value_for,
)
from azero.mcts.roots.visits import TARGET_TOTAL, VisitsRoot, write_policy_target
from azero.mcts.selection import Puct, Uct
from azero.mcts.tree import UNPROVEN

__all__ = [
    "BY_BOUND",
    "BY_VALUE",
    "BY_VISITS",
    "LEFT_TO_SELECTION",
    "TARGET_TOTAL",
    "UNPROVEN",
    "GumbelRoot",
    "Puct",
    "Uct",
    "VisitsRoot",
    "best_child_of_visits",
    "chosen_child",
    "greedy_child",
    "has_value",
    "is_decided",
    "random_unit",
    "sign_of",
    "subroutine",
    "value_for",
    "write_policy_target",
]
