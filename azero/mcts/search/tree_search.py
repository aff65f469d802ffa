"""`TreeSearch`: the Python interface to the search of B trees side by side."""

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from azero.compiler.beside import compiling_beside
from azero.errors import BadInput
from azero.games import Game, State
from azero.mcts.evaluation.cache import new_cache
from azero.mcts.evaluation.evaluator import Evaluator, LateEvaluator, UniformEvaluator
from azero.mcts.evaluation.views import new_views
from azero.mcts.proving.root_solver import KnownMove, RootSolver, solve_roots, write_known
from azero.mcts.proving.wins import first_win
from azero.mcts.rollouts.policies import OwnRollout, RolloutPolicy
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.deadline import Deadline
from azero.mcts.search.kernels import choose_action, simulate
from azero.mcts.search.settings import SearchParts, Settings, check_parts
from azero.mcts.search.trees import EvaluatedTrees, RolloutTrees, Simulate, rules_named
from azero.mcts.selection import Selection
from azero.mcts.tree import NODE_DTYPE, UNPROVEN, Forest, advance_tree, node_of, start_tree
from azero.system.threads import Slices, finish

MAX_NODES = 1 << 22
"""The default limit on a tree's nodes: 128 MiB."""

_MEMORY_OF_ALL_TREES = 1 << 31  # bytes of all trees of one search, if all reach their limit; few do
_AGAIN = 16  # times as many positions when a look-ahead is repeated to find its line


def nodes_needed(game: Game, num_simulations: int) -> int:
    """Returns a limit on nodes that suffices for searches of this size that keep their trees between moves."""
    wanted = 8 * num_simulations * game.num_actions + game.num_actions + 1
    return max(min(wanted, MAX_NODES), 2 * game.num_actions + 1)


def trees_that_fit(game: Game, num_simulations: int) -> int:
    """Returns how many trees of such searches the memory has room for, at least one."""
    return max(1, _MEMORY_OF_ALL_TREES // NODE_DTYPE.itemsize // nodes_needed(game, num_simulations))


def affordable_nodes(num_trees: int) -> int:
    """Returns the memory's limit on the nodes of each of `num_trees` trees."""
    return min(_MEMORY_OF_ALL_TREES // NODE_DTYPE.itemsize // num_trees, MAX_NODES)


class TreeSearch:
    """B trees, each with a position at its root. `run` grows them; `advance` plays a move in one of them.

    With an evaluator, leaves of all trees are evaluated in batches. If `settings.rollout_weight` is above 0, a rollout
    is mixed into their values. If `settings.cache_mib` is above 0, a cache keeps the evaluator's answers. If
    `settings.solve_nodes` is above 0, threads try to solve the roots halfway through a search. If `threads_per_tree` is
    above 1, so many threads evaluate the `settings.leaves_per_tree` leaves of each tree.

    Without an evaluator, leaves are evaluated by `rollout` alone, the root is plain, and threads share the trees.

    Attributes:
      simulate: runs simulations with rollouts in one tree; subclasses replace it.
      histories: for each tree, the actions that led to its root.
      known_moves: for each tree, the root's solved moves by action.

    Raises BadInput if a strategy cannot be compiled, or if a search without an evaluator has a root that is not plain.
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
        threads_per_tree: int = 1,
    ):
        root = settings.root
        if evaluator is None and (type(root) is not VisitsRoot or root != VisitsRoot()):
            raise BadInput(f"{root} as the root needs an evaluator; a search with rollouts alone has a plain root")
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
        parts = parts._replace(views=new_views(game), cache=new_cache(settings.cache_mib))
        self._trees = EvaluatedTrees(game, parts, evaluator, num_trees, max_nodes, threads_per_tree)
        if settings.solve_nodes > 0:
            self._solvers = [RootSolver(game, settings.solve_nodes) for _ in range(min(num_threads, num_trees))]

    @property
    def forest(self) -> Forest:
        """The trees."""
        return self._trees.forest

    def prepare(self, state: State | None = None, others: Callable[[], object] = lambda: None) -> None:
        """Compiles the kernels of `run`, if they are not compiled yet: takes seconds the first time on a machine.

        The largest kernel, that of the trees, is compiled by this process. Meanwhile a second process compiles the
        others, those of the evaluator first.

        Args:
          state: the position of the first search. With it, the second process compiles what uses a searched tree, too.
          others: called in the second process, with all trees as if they were searched; it should use more kernels.
        """
        with compiling_beside(lambda: self._prepare_others(state, others)):
            self._trees.prepare()
        for solver in self._solvers[:1]:
            solver.prepare()

    def _prepare_others(self, state: State | None, others: Callable[[], object]) -> None:
        """Compiles the kernels besides that of the trees. It leaves a root with moves that nobody has searched."""
        if isinstance(self.evaluator, LateEvaluator):
            self.evaluator.compile()
        for solver in self._solvers[:1]:
            solver.prepare()
        if state is None:
            return
        first_win(state)
        actions = state.legal_actions()
        size = len(actions) + 1
        for b, nodes in enumerate(self.forest.nodes):
            self.start(b, state, seed=0)
            nodes[1:size] = np.zeros(len(actions), NODE_DTYPE)
            nodes["action"][1:size] = actions
            nodes["proven"][1:size] = UNPROVEN
            nodes[0].first_child, nodes[0].num_children = 1, len(actions)
            nodes["N"][:size] = 1
        self.forest.trees.num_nodes = size
        self.choose(0)
        others()

    def start(self, b: int, state: State, seed: int, is_repeatable: bool = True) -> None:
        """Starts tree b afresh, with the position `state` at its root and random numbers from `seed`.

        If it `is_repeatable`, the tree depends on nothing else.
        """
        self.histories[b] = state.history()
        self.known_moves[b] = {}
        start_tree(self.forest, b, state.record, np.uint64(seed))
        if is_repeatable and self.settings.leaves_per_tree > 1:  # a cache would change the order of leaves
            self._trees.clear_cache()

    def use_nodes(self, nodes: np.recarray) -> None:
        """Continues with other nodes, [B, M] NODE_DTYPE. The caller then starts each tree."""
        self._trees.use_nodes(nodes)

    def advance(self, b: int, action: int) -> None:
        """Plays `action` at the root of tree b; keeps the subtree below it if the root strategy can reuse it."""
        self.histories[b].append(action)
        advance_tree(self.game.rules, self.settings, self.forest, b, action)
        if action in self.known_moves[b]:
            self.forest.nodes[b][0].proven = UNPROVEN  # the solver's proof may not be in the tree, and a move is needed
        self.known_moves[b] = {}

    def line_below(self, b: int, line: list[int]) -> list[int]:
        """Returns how play continues after `line` from the root of tree b, if look-ahead has proven the result there.

        The tree does not contain the moves of a look-ahead. So the look-ahead is repeated, position by position, with
        more positions.
        """
        below: list[int] = []
        nodes = self.forest.nodes.view(np.ndarray)[b]
        end = node_of(nodes, line)  # -1 if the line is not in the tree, where a whole turn is one move
        if end < 0 or nodes["proven"][end] == UNPROVEN:
            return below
        state = State.from_record(self.game, self.forest.root_states[b])
        for action in line:
            state.apply_action(action)
        if state.is_terminal():
            return below
        if self.settings.proof_nodes == 0:
            ending = first_win(state)  # see `prove_by_replies`
            return [] if ending < 0 else [ending]
        settings = self.settings._replace(
            cache_mib=0,
            leaves_per_tree=1,
            proof_nodes=_AGAIN * self.settings.proof_nodes,
            solve_nodes=0,
            root=VisitsRoot(),
        )
        ahead = TreeSearch(self.game, self.selection, settings, UniformEvaluator(self.game.num_actions), max_nodes=1)
        while not state.is_terminal():
            ahead.start(0, state, seed=0)
            ahead.run([0], 1)
            if ahead.forest.nodes[0][0].proven == UNPROVEN:
                break
            below.append(ahead.choose(0))
            state.apply_action(below[-1])
        return below

    def choose(self, b: int, temperature: float = 0.0) -> int:
        """Returns the action to play at the root of tree b; the best one at temperature 0."""
        with rules_named(self.game):
            return int(choose_action(self.parts_of(b), self.forest, self._trees.scratch, b, temperature))

    def parts_of(self, b: int) -> SearchParts:
        """Returns the parts of tree b's search, as its kernels take them."""
        return self._trees.parts

    def actions_of(self, b: int, move: int) -> list[int]:
        """Returns the actions of `move`, a root move as its node stores it: itself, or the actions of a whole turn."""
        return [move]

    def is_within_turn(self, b: int) -> bool:
        """Returns whether the next action in tree b belongs to a whole turn that was chosen already."""
        return False

    def run(
        self, trees: Sequence[int], num_simulations: int, seconds: float | None = None, temperature: float = 0.0
    ) -> None:
        """Searches the given trees: `num_simulations` more in each, or until `seconds` are over, whichever is first.

        A root strategy may clear the tree first; `GumbelRoot` does. `temperature` is that of the next move; root
        strategies may use it. Raises BrokenRules if the game's rules are broken.
        """
        finish(self.running(trees, num_simulations, seconds, temperature))

    def running(
        self,
        trees: Sequence[int],
        num_simulations: int,
        seconds: float | None = None,
        temperature: float = 0.0,
        slice_s: float = math.inf,
    ) -> Slices[None]:
        """As `run`, in slices of about `slice_s`; the solver of roots has one of its own. Pauses do not count."""
        seconds, used_s = math.inf if seconds is None else seconds, 0.0
        self.begin(trees, num_simulations, temperature)
        if self._solvers:
            self.forest.trees.held_back[:] = num_simulations // 2
            used_s = yield from self._proceeding(trees, used_s, seconds / 3, slice_s)
            begin = time.perf_counter()
            self._solve_roots(trees, Deadline(begin + 2 * seconds / 3 - used_s))
            self.forest.trees.held_back[:] = 0
            used_s += time.perf_counter() - begin
            yield
        yield from self._proceeding(trees, used_s, seconds, slice_s)

    def _proceeding(self, trees: Sequence[int], used_s: float, seconds: float, slice_s: float) -> Slices[float]:
        """Proceeds in slices until `seconds` are used, of which `used_s` are already; returns how many are used."""
        while True:
            begin = time.perf_counter()
            deadline = Deadline(begin + min(slice_s, seconds - used_s))
            self.proceed(trees, deadline)
            is_done = not deadline.has_passed()
            used_s += time.perf_counter() - begin
            if is_done or used_s >= seconds:
                return used_s
            yield

    def begin(self, trees: Sequence[int], num_simulations: int, temperature: float = 0.0) -> None:
        """Begins a search in the given trees, for a caller that runs it in parts: `proceed` does the simulations."""
        self._trees.begin(trees, num_simulations, temperature)

    def proceed(self, trees: Sequence[int], deadline: Deadline) -> None:
        """Goes on with the search that `begin` began, until its simulations are done or the deadline has passed."""
        self._trees.run(trees, deadline)

    def search_completely(self) -> None:
        """Makes all simulations from now on, even if no other move can overtake the best one."""
        self.use_settings(self.settings._replace(is_stopping_early=False))

    def use_settings(self, settings: Settings) -> None:
        """Continues with other settings of the same types. The caller then starts each tree."""
        self.settings = settings
        self._trees.use_settings(settings)
        if settings.solve_nodes == 0:
            self._solvers = []

    def add_solver(self, max_positions: int) -> None:
        """Makes the solver of `solving` if there is none and proofs are backed up."""
        if self.settings.is_proving and not self._solvers:
            self._solvers = [RootSolver(self.game, max_positions)]
            self._solvers[0].prepare()

    @property
    def can_solve(self) -> bool:
        """Returns whether the search tries to solve roots."""
        return bool(self._solvers)

    def solving(self, b: int) -> Callable[[Callable[[], bool]], dict[int, KnownMove]]:
        """Returns a function that tries to solve the root of tree b, and returns the solved moves; see `RootSolver`.

        Its argument returns whether it has to stop. Another thread may run it while the search goes on.
        """
        state = State.from_record(self.game, self.forest.root_states[b], self.histories[b])
        return self._solvers[0].begin(state, self.forest.nodes[b])

    def learn_moves(self, b: int, known: dict[int, KnownMove]) -> None:
        """Writes solved moves of the root into tree b."""
        self.known_moves[b] |= known
        write_known(self.forest.nodes[b], known, self.game.max_plies)

    def _solve_roots(self, trees: Sequence[int], deadline: Deadline) -> None:
        """Tries to solve the roots that are expanded and not proven."""
        nodes, records = self.forest.nodes, self.forest.root_states
        states = {
            b: State.from_record(self.game, records[b], self.histories[b])
            for b in trees
            if nodes[b][0].first_child > 0 and nodes[b][0].proven == UNPROVEN
        }
        solve_roots(self._solvers, self.forest, states, self.known_moves, deadline.has_passed)
