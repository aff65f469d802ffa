"""Tree search: PUCT with an evaluator, UCT with random rollouts, and mixtures of both. Start with `TreeSearch`.

To read the code, begin with `reference/search.py`: it is the whole search in plain Python. `reference/gumbel.py` adds
the root of Gumbel AlphaZero. `search/kernels.py` is the compiled search.
"""

from azero.mcts.classical.monte_carlo import EpisodeSearch, FlatSearch, MinimaxSearch
from azero.mcts.classical.table_search import TableSearch
from azero.mcts.classical.turn_search import FlatTurnSearch, TableTurnSearch, TurnSearch
from azero.mcts.evaluation.evaluator import Evaluator, UniformEvaluator
from azero.mcts.rollouts.policies import LinearSoftmax, OwnRollout, RolloutPolicy, UniformRollout
from azero.mcts.rollouts.weights import rollout_from_config, rollout_named
from azero.mcts.search.analysis import RESULT_NAMES, MoveStatistics, rank_moves, root_result, root_value
from azero.mcts.search.settings import Settings
from azero.mcts.search.tree_search import MAX_NODES, TreeSearch, affordable_nodes, nodes_needed, trees_that_fit
from azero.mcts.selection import DepthBias, Puct, Selection, Uct, selection_from_config

__all__ = [
    "MAX_NODES", "RESULT_NAMES", "DepthBias", "EpisodeSearch", "Evaluator", "FlatSearch", "FlatTurnSearch",
    "LinearSoftmax", "MinimaxSearch", "MoveStatistics", "OwnRollout", "Puct", "RolloutPolicy", "Selection",
    "Settings", "TableSearch", "TableTurnSearch", "TreeSearch", "TurnSearch", "Uct", "UniformEvaluator",
    "UniformRollout", "affordable_nodes", "nodes_needed", "rank_moves", "rollout_from_config", "rollout_named",
    "root_result", "root_value", "selection_from_config", "trees_that_fit",
]  # fmt: skip
