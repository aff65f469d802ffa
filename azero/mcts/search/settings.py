"""The settings and the parts of a search, as its kernels take them."""

from typing import Any, NamedTuple

from azero.compiler.jit import check_strategy
from azero.config.schema import SearchConfig
from azero.mcts.evaluation.cache import Cache
from azero.mcts.evaluation.views import Views
from azero.mcts.rollouts.policies import RolloutPolicy
from azero.mcts.roots.ranking import BY_VISITS, CHOSEN_BY
from azero.mcts.roots.strategies import Root
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.selection import Selection
from azero.mcts.users_strategies import methods_of


class Settings(NamedTuple):
    """Constants of one search. docs/configuration.md describes the settings of a run, from which these are made."""

    is_proving: bool = True  # whether proofs are backed up, and proven losses not selected
    is_looking_ahead: bool = False  # whether a new node's children are checked for the end of the game
    proof_nodes: int = 0  # positions spent, in addition, on proving the other children of a new node
    solve_nodes: int = 0  # positions spent on solving the root, halfway through a search
    is_rollout_only: bool = True  # no evaluator: the leaf value is z, the result of a rollout
    rollout_weight: float = 0.0  # a of the leaf value (1 - a) v + a z, with an evaluator
    min_visits: int = 0  # a node with fewer visits selects its children at random, in a tree and in a table
    leaves_per_tree: int = 1  # most leaves of a tree that wait for the evaluator together
    visits_per_leaf: int = 0  # if above 0: few of them in a new tree, and one more for every so many visits of the root
    is_stopping_early: bool = False  # whether a search ends when no other move can overtake the most visited
    has_random_symmetry: bool = False  # whether, without a cache, the evaluator sees each leaf in a random symmetry
    cache_mib: int = 0  # size of the evaluation cache in MiB; 0: no cache
    root: Root = VisitsRoot()  # the root strategy
    chosen_by: int = BY_VISITS  # criterion for the best move: an index of CHOSEN_BY

    @classmethod
    def from_config(cls, config: SearchConfig) -> "Settings":
        """Returns the search settings of a run, without noise and random symmetries."""
        proof_nodes = config.proof_nodes if config.prove else 0
        return cls(
            is_proving=config.prove,
            is_looking_ahead=config.look_ahead or proof_nodes > 0,
            proof_nodes=proof_nodes,
            solve_nodes=config.solve_nodes if config.prove else 0,
            is_rollout_only=False,
            rollout_weight=config.rollout_weight,
            cache_mib=config.cache_mib,
            chosen_by=CHOSEN_BY.index(config.choose_by),
            is_stopping_early=config.stop_early and config.choose_by == "visits",
        )


class SearchParts(NamedTuple):
    """The parts of a search. Their types decide which code is compiled into its kernels."""

    rules: Any  # of the game; a NamedTuple
    selection: Selection
    rollout_policy: RolloutPolicy
    settings: Settings
    views: Views | None = None  # the symmetries in which an evaluator sees positions
    cache: Cache | None = None  # of the evaluator's answers


def check_parts(parts: SearchParts) -> None:
    """Raises BadInput if kernels cannot call the methods of a strategy, such as a user's own root."""
    check_strategy(parts.selection, methods_of(Selection))
    check_strategy(parts.rollout_policy, ["play_out"])
    check_strategy(parts.settings.root, methods_of(Root))
