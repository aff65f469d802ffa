"""`Search`: B trees searched side by side, as Python uses them."""

import math
import time
from collections.abc import Sequence

import numpy as np

from azero.errors import BadInput
from azero.games import Game, State
from azero.mcts.evaluation.cache import new_cache
from azero.mcts.evaluation.evaluator import Evaluator, UniformEvaluator
from azero.mcts.evaluation.views import new_views
from azero.mcts.proving.root_solver import KnownMove, RootSolver, solve_roots
from azero.mcts.rollouts.policies import OwnRollout, RolloutPolicy
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.evaluated import EvaluatedTrees
from azero.mcts.search.kernels import choose_action, simulate
from azero.mcts.search.rollouts import RolloutTrees, Simulate
from azero.mcts.search.settings import SearchParts, Settings, check_parts
from azero.mcts.selection.strategies import Selection
from azero.mcts.tree import NODE_DTYPE, UNPROVEN, Forest, advance_tree, start_tree

MAX_NODES = 1 << 22
"""The limit on a tree's nodes unless another is given: 128 MiB."""

_MEMORY_OF_ALL_TREES = 1 << 30  # bytes that the trees of one search may take together, if they all grow to their limit
_AGAIN = 16  # times the positions of a look ahead go into asking it again


def nodes_needed(game: Game, num_simulations: int, num_trees: int) -> int:
    """Returns a limit on nodes that leaves room for searches of this size with their trees kept between moves."""
    wanted = 4 * num_simulations * game.num_actions + game.num_actions + 1
    return max(min(wanted, affordable_nodes(num_trees)), 2 * game.num_actions + 1)


def affordable_nodes(num_trees: int) -> int:
    """Returns the limit on the nodes of each of `num_trees` trees that memory sets."""
    return min(_MEMORY_OF_ALL_TREES // NODE_DTYPE.itemsize // num_trees, MAX_NODES)


class Search:
    """B trees, each with a position at its root; `run` grows them, `advance` follows a move into them.

    With an evaluator, leaves are judged by it in batches over all trees, and by `rollout` as far as the settings give
    that weight; what it has said is kept in a cache, if the settings ask for one. Half-way, if they ask for it, threads
    share the roots and solve them. Without an evaluator leaves are judged by `rollout` alone, from a plain root;
    threads share the trees.

    Attributes:
      simulate: runs simulations with rollouts in one tree; searches of other kinds have others.
      histories: for each tree the actions that led to its root.
      known_moves: for each tree what has been solved of its root's moves, by action.

    Raises BadInput where a strategy cannot be compiled, or rollouts are to go with another root than the plain one.
    """

    simulate: Simulate = staticmethod(simulate)

    def __init__(
        self,
        game: Game,
        selection: Selection,
        settings: Settings,
        evaluator: Evaluator | None = None,
        num_trees: int = 1,
        max_nodes: int = MAX_NODES,
        num_threads: int = 1,
        rollout: RolloutPolicy = OwnRollout(),
    ):
        root = settings.root
        if evaluator is None and (type(root) is not VisitsRoot or root != VisitsRoot()):
            raise BadInput(f"{root} as the root needs an evaluator: with rollouts alone the root is plain")
        self.game, self.selection, self.rollout, self.evaluator = game, selection, rollout, evaluator
        self.settings = settings._replace(is_rollout_only=evaluator is None)
        self.histories: list[list[int]] = [[] for _ in range(num_trees)]
        self.known_moves: list[dict[int, KnownMove]] = [{} for _ in range(num_trees)]
        max_nodes = max(max_nodes, game.num_actions + 1)
        parts = SearchParts(game.rules, selection, rollout, self.settings)
        check_parts(parts)
        self._solvers: list[RootSolver] = []
        self._trees: EvaluatedTrees | RolloutTrees
        if evaluator is None:
            self._trees = RolloutTrees(game, parts, self.simulate, self.histories, max_nodes, num_threads)
            return
        parts = parts._replace(views=new_views(game), cache=new_cache(game.num_actions, settings.cache_mib))
        self._trees = EvaluatedTrees(game, parts, evaluator, num_trees, max_nodes)
        if settings.solve_nodes > 0:
            self._solvers = [RootSolver(game, settings.solve_nodes) for _ in range(min(num_threads, num_trees))]

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self._trees.forest

    def prepare(self) -> None:
        """Compiles what `run` needs, if that has not been done: seconds the first time on a machine, then a moment."""
        self._trees.prepare()
        for solver in self._solvers[:1]:
            solver.prepare()

    def start(self, b: int, state: State, seed: int) -> None:
        """Puts a new tree in place b: the position `state`, and the random numbers of `seed`."""
        self.histories[b] = state.history()
        self.known_moves[b] = {}
        start_tree(self.forest, b, state.record, np.uint64(seed))
        if self.settings.leaves_per_tree > 1:  # then what is known sets the order of leaves; the seed alone is to do so
            self._trees.clear_cache()

    def advance(self, b: int, action: int) -> None:
        """Plays `action` at the root of tree b, and keeps what was learned below it if the root strategy can use it."""
        self.histories[b].append(action)
        advance_tree(self.game.rules, self.settings, self.forest, b, action)
        if action in self.known_moves[b]:
            self.forest.nodes[b][0].proven = UNPROVEN  # its proof need not lie in the tree, and a move is to be found
        self.known_moves[b] = {}

    def line_below(self, b: int, line: list[int]) -> list[int]:
        """Returns how play goes on after `line`, from the root of tree b on, where the tree does not tell it.

        That is where looking ahead has proven a result: it is asked again, position by position, and may take longer,
        since all moves of a position are then looked at by themselves.
        """
        below: list[int] = []
        if self.settings.proof_nodes == 0:
            return below
        state = State.from_record(self.game, self.forest.root_states[b])
        for action in line:
            state.apply_action(action)
        settings = self.settings._replace(
            cache_mib=0,
            leaves_per_tree=1,
            proof_nodes=_AGAIN * self.settings.proof_nodes,
            solve_nodes=0,
            root=VisitsRoot(),
        )
        ahead = Search(self.game, self.selection, settings, UniformEvaluator(self.game.num_actions), max_nodes=1)
        while not state.is_terminal():
            ahead.start(0, state, seed=0)
            ahead.run([0], 1)
            if ahead.forest.nodes[0][0].proven == UNPROVEN:
                break
            below.append(ahead.choose(0))
            state.apply_action(below[-1])
        return below

    def choose(self, b: int, temperature: float = 0.0) -> int:
        """Returns the action to play at the root of tree b; at temperature 0 the best."""
        return int(choose_action(self.settings, self.forest, b, temperature))

    def actions_of(self, b: int, move: int) -> list[int]:
        """Returns the actions of a move of root b, as its node has it: the action itself, or those of a whole turn."""
        return [move]

    def is_within_turn(self, b: int) -> bool:
        """Returns whether the action to play at the root of tree b is settled, by a whole turn chosen before."""
        return False

    def run(
        self, trees: Sequence[int], num_simulations: int, seconds: float | None = None, temperature: float = 0.0
    ) -> None:
        """Searches the given trees: each to `num_simulations` more, or until `seconds` are over, whichever is first.

        A root strategy may begin from nothing each time, as Gumbel's does; `temperature` is that of the move to come,
        for one that plans for it. Raises BrokenRules where the game's rules cannot go on.
        """
        seconds = math.inf if seconds is None else seconds
        begin = time.perf_counter()
        self._trees.begin(trees, num_simulations, temperature)
        if self._solvers:
            self.forest.trees.held_back[:] = num_simulations // 2
            self._trees.run(trees, begin + seconds / 3)
            self._solve_roots(trees, begin + 2 * seconds / 3)
            self.forest.trees.held_back[:] = 0
        self._trees.run(trees, begin + seconds)

    def _solve_roots(self, trees: Sequence[int], deadline: float) -> None:
        """Solves those roots that have moves, and of which nothing is proven."""
        nodes, records = self.forest.nodes, self.forest.root_states
        states = {
            b: State.from_record(self.game, records[b], self.histories[b])
            for b in trees
            if nodes[b][0].first_child > 0 and nodes[b][0].proven == UNPROVEN
        }
        solve_roots(self._solvers, self.forest, states, self.known_moves, deadline)
