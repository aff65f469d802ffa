"""What a search is put together from, as its kernels are given it: what is switched on, and who does what."""

from typing import Any, NamedTuple

from azero.compiler.jit import check_strategy
from azero.config.schema import SearchConfig
from azero.mcts.evaluation.cache import Cache
from azero.mcts.evaluation.views import Views
from azero.mcts.rollouts.policies import RolloutPolicy
from azero.mcts.roots.choice import BY_VISITS, CHOSEN_BY
from azero.mcts.roots.strategies import Root
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.selection.strategies import Selection


class Settings(NamedTuple):
    """Constants of one search; see docs/configuration.md for the settings of a run that lead to them."""

    is_proving: bool = True  # whether proven results are carried up, and lost moves left alone
    is_looking_ahead: bool = False  # whether a new node's children are looked at for the end of the game
    proof_nodes: int = 0  # positions by which, then, it is tried to prove the others
    solve_nodes: int = 0  # positions by which it is tried, half-way through a search, to solve the root
    is_rollout_only: bool = True  # leaf value z, a random rollout's; no evaluator
    rollout_weight: float = 0.0  # a of the leaf value (1 - a) v + a z, where there is an evaluator
    min_visits: int = 0  # of a node, before its children are chosen by the rule: until then at random
    prefers_stored: bool = False  # in a table: whether, where it cannot store all children, a stored one is chosen
    stored_visits: int = 0  # which has more visits than this,
    stored_value: float = -2.0  # and a greater value for the mover
    leaves_per_tree: int = 1  # how many leaves of a tree go to the evaluator together
    is_stopping_early: bool = False  # whether a search ends when no other move can overtake the most visited
    has_random_symmetry: bool = False  # whether the evaluator, without a cache, sees each leaf in a random symmetry
    cache_mib: int = 0  # size of the evaluation cache; 0: there is none
    root: Root = VisitsRoot()  # what is special about the root
    chosen_by: int = BY_VISITS  # what the best move is chosen by: a place in CHOSEN_BY

    @classmethod
    def from_config(cls, config: SearchConfig) -> "Settings":
        """Returns what a run's settings say of the search with its net; neither noise nor symmetry at random."""
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
    """Who does what in a search; the types say which code is compiled into its kernels."""

    rules: Any  # the game's, a NamedTuple
    selection: Selection
    rollout_policy: RolloutPolicy
    settings: Settings
    views: Views | None = None  # of what an evaluator judges
    cache: Cache | None = None  # of what it has said


def check_parts(parts: SearchParts) -> None:
    """Raises BadInput where kernels could not call the methods of a strategy, such as a root of one's own."""
    for strategy in (parts.selection, parts.rollout_policy, parts.settings.root):
        check_strategy(strategy)
