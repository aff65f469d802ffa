"""Tree search: PUCT with an evaluator, UCT with random rollouts, and what lies between. `Search` is where to start.

To read it, begin with `reference.py`, the whole search in plain Python, and `gumbel_reference.py`, the root of Gumbel
AlphaZero; `kernels.py` is the same, compiled.
"""

from azero.mcts.analysis import MoveStatistics, rank_moves, root_value
from azero.mcts.evaluator import Evaluator, UniformEvaluator
from azero.mcts.flat import FlatSearch
from azero.mcts.minimax import EpisodeSearch, MinimaxSearch
from azero.mcts.rollout_policies import LinearSoftmax, OwnRollout, RolloutPolicy, UniformRollout
from azero.mcts.rollout_weights import rollout_from_config, rollout_named
from azero.mcts.rules import DepthBias, Puct, Rule, Uct, rule_from_config
from azero.mcts.search import MAX_NODES, Search, affordable_nodes, nodes_needed
from azero.mcts.settings import Settings
from azero.mcts.table_search import TableSearch
from azero.mcts.turn_search import FlatTurnSearch, TableTurnSearch, TurnSearch

__all__ = [
    "MAX_NODES", "DepthBias", "EpisodeSearch", "Evaluator", "FlatSearch", "FlatTurnSearch", "LinearSoftmax",
    "MinimaxSearch", "MoveStatistics", "OwnRollout", "Puct", "RolloutPolicy", "Rule", "Search", "Settings",
    "TableSearch", "TableTurnSearch", "TurnSearch", "Uct", "UniformEvaluator", "UniformRollout", "affordable_nodes",
    "nodes_needed", "rank_moves", "rollout_from_config", "rollout_named", "root_value", "rule_from_config",
]  # fmt: skip
