"""`Search`: B trees searched side by side, as Python uses them."""

import math
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from azero.compiler.pace import CALL_S, next_size
from azero.errors import BrokenRules
from azero.games import Game, State
from azero.games.state import broken_rules
from azero.mcts.evaluation.batch import Batch, new_batch
from azero.mcts.evaluation.cache import Cache, keep_answers, new_cache
from azero.mcts.evaluation.evaluator import Evaluator, UniformEvaluator
from azero.mcts.evaluation.views import new_views
from azero.mcts.proving.root_solver import KnownMove, RootSolver, solve_roots
from azero.mcts.rollouts.playing import mean_length
from azero.mcts.rollouts.policies import OwnRollout, RolloutPolicy
from azero.mcts.roots.choice import choose_action
from azero.mcts.search.kernels import simulate
from azero.mcts.search.leaves import expand_and_backup, select_leaves
from azero.mcts.search.settings import Settings
from azero.mcts.selection.rules import Rule, needs_length
from azero.mcts.tree import NODE_DTYPE, UNPROVEN, Forest, advance_tree, new_forest, start_tree
from azero.system.threads import share_among_threads

MAX_NODES = 1 << 22
"""The limit on a tree's nodes unless another is given: 128 MiB."""

_MEMORY_OF_ALL_TREES = 1 << 30  # bytes that the trees of one search may take together, if they all grow to their limit
_GAMES_FOR_A_LENGTH = 8
_SHORTEST_CALL_S = 1e-4  # of a search by the clock: Python's part in a call takes about a tenth of it
_AGAIN = 16  # times the positions of a look ahead go into asking it again
_FIRST_ROLLOUTS = 1  # of a run; how many follow at once depends on how long they take


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
    share the roots and solve them. Without an evaluator leaves are judged by `rollout` alone; threads share the trees.
    """

    def __init__(
        self,
        game: Game,
        rule: Rule,
        settings: Settings,
        evaluator: Evaluator | None = None,
        num_trees: int = 1,
        max_nodes: int = MAX_NODES,
        num_threads: int = 1,
        rollout: RolloutPolicy = OwnRollout(),
    ):
        self.game = game
        self.rule = rule
        self.settings = settings._replace(is_rollout_only=evaluator is None)
        self.evaluator = evaluator
        self.rollout = rollout
        self.num_threads = num_threads
        self._actions: list[list[int]] = [[] for _ in range(num_trees)]  # that led to the roots
        self.known_moves: list[dict[int, KnownMove]] = [{} for _ in range(num_trees)]  # of the roots, by action
        self.forest: Forest = new_forest(game.rules, num_trees, max(max_nodes, game.num_actions + 1))
        self._views = new_views(game) if evaluator else None
        self._cache = self._new_cache()
        batch_size = num_trees * settings.leaves_per_tree if evaluator else 1
        num_sharing = min(num_threads, num_trees)
        self._batches: list[Batch] = [new_batch(game.rules, batch_size) for _ in range(1 if evaluator else num_sharing)]
        is_solving = evaluator is not None and settings.solve_nodes > 0
        self._solvers = [RootSolver(game, settings.solve_nodes) for _ in range(num_sharing if is_solving else 0)]

    def prepare(self) -> None:
        """Compiles what `run` needs, if that has not been done: seconds the first time on a machine, then a moment."""
        self.forest.trees.target[:] = 0
        if self.evaluator is None:
            self._simulate(0, self._batches[0], 0)
            return
        self._select(self._batches[0])
        self._apply_evaluations(self._batches[0], self.evaluator.evaluate(self._batches[0].planes[:1]), 0)
        for solver in self._solvers[:1]:
            solver.prepare()

    def start(self, b: int, state: State, seed: int) -> None:
        """Puts a new tree in place b: the position `state`, and the random numbers of `seed`."""
        self._actions[b] = state.history()
        self.known_moves[b] = {}
        start_tree(self.forest, b, state.record, np.uint64(seed))
        if self.settings.leaves_per_tree > 1:  # then what is known sets the order of leaves; the seed alone is to do so
            self._cache = self._new_cache()

    def advance(self, b: int, action: int) -> None:
        """Plays `action` at the root of tree b, and keeps what was learned below it."""
        self._actions[b].append(action)
        advance_tree(self.game.rules, self.forest, b, action)
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
            cache_mib=0, leaves_per_tree=1, proof_nodes=_AGAIN * self.settings.proof_nodes, solve_nodes=0
        )
        ahead = Search(self.game, self.rule, settings, UniformEvaluator(self.game.num_actions), max_nodes=1)
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
        return int(choose_action(self.forest, b, temperature, self.settings.chosen_by))

    def actions_of(self, b: int, move: int) -> list[int]:
        """Returns the actions of a move of root b, as its node has it: the action itself, or those of a whole turn."""
        return [move]

    def is_within_turn(self, b: int) -> bool:
        """Returns whether the action to play at the root of tree b is settled, by a whole turn chosen before."""
        return False

    def run(self, trees: Sequence[int], num_simulations: int, seconds: float | None = None) -> None:
        """Searches the given trees: each to `num_simulations` more, or until `seconds` are over, whichever is first.

        Raises BrokenRules where the game's rules cannot go on.
        """
        self.forest.trees.simulations[:] = 0
        seconds = math.inf if seconds is None else seconds
        if self.evaluator is None:
            self._set_target(trees, num_simulations)
            share_among_threads(
                trees,
                self._batches,
                lambda some, batch, is_halted: self._simulate_all(some, batch, seconds, is_halted),
            )
            return
        begin = time.perf_counter()
        if self._solvers:
            self._search(self.evaluator, trees, (num_simulations + 1) // 2, begin + seconds / 3)
            self._solve_roots(trees, begin + 2 * seconds / 3)
        self._search(self.evaluator, trees, num_simulations, begin + seconds)

    def _set_target(self, trees: Sequence[int], num_simulations: int) -> None:
        self.forest.trees.target[:] = 0
        self.forest.trees.target[list(trees)] = num_simulations

    def _solve_roots(self, trees: Sequence[int], deadline: float) -> None:
        """Solves those roots that have moves, and of which nothing is proven."""
        nodes, records = self.forest.nodes, self.forest.root_states
        states = {
            b: State.from_record(self.game, records[b], self._actions[b])
            for b in trees
            if nodes[b][0].first_child > 0 and nodes[b][0].proven == UNPROVEN
        }
        solve_roots(self._solvers, self.forest, states, self.known_moves, deadline)

    def _estimate_length(self, b: int, batch: Batch) -> None:
        """Plays a few games by the game's own policy from the root of tree b, and notes how long they last."""
        root = self.forest.root_states[b]
        rng = self.forest.trees[b : b + 1].copy()[0]  # a copy, so that the search's own random numbers stay the same
        room = batch.states, batch.legal, rng, batch.path.shape[1]
        self.forest.trees[b].length = mean_length(self.game.rules, root, *room, _GAMES_FOR_A_LENGTH)

    def _simulate_all(self, trees: Sequence[int], batch: Batch, seconds: float, is_halted: threading.Event) -> None:
        """Searches trees one after another, in calls that take some `CALL_S`, or a hundredth of `seconds`, each.

        A hundredth of a short time is less than the call itself takes, so that `_SHORTEST_CALL_S` or what is left is.
        """
        begin = now = time.perf_counter()
        at_once = _FIRST_ROLLOUTS
        for b in trees:
            is_done = False
            try:
                if needs_length(self.rule):
                    self._estimate_length(b, batch)
                while not is_done and not is_halted.is_set():
                    start = now
                    is_done = self._simulate(b, batch, at_once)
                    now = time.perf_counter()
                    left = seconds - (now - begin)
                    if not is_done:
                        wanted_s = min(CALL_S, max(seconds / 100, _SHORTEST_CALL_S), left)
                        at_once = next_size(at_once, now - start, wanted_s)
                    if left <= 0:
                        break
            except BrokenRules as error:
                raise broken_rules(self.game.name, f"{error} in a search", self._actions[b]) from None

    def _simulate(self, b: int, batch: Batch, num_simulations: int) -> bool:
        """Runs simulations with rollouts in tree b; returns whether it needs no more."""
        kinds = self._rules_of(b), self.rule, self.rollout, self.settings
        return simulate(*kinds, self.forest, batch, b, num_simulations)

    def _rules_of(self, b: int) -> Any:
        """Returns the rules as the kernels of a search with rollouts are to have them in tree b."""
        return self.game.rules

    def _search(self, evaluator: Evaluator, trees: Sequence[int], num_simulations: int, deadline: float) -> None:
        """Runs simulations until each tree has had so many since the run began, or time is over."""
        self._set_target(trees, num_simulations)
        batch = self._batches[0]
        is_any_left = True
        try:
            while is_any_left:
                is_any_left = self._select(batch)
                num_rows = int(batch.waiting[0].rows)
                if num_rows:
                    self._apply_evaluations(batch, evaluator.evaluate(batch.planes[:num_rows]), num_rows)
                if time.perf_counter() >= deadline:
                    return
        except BrokenRules as error:
            raise broken_rules(self.game.name, f"{error} in a search", []) from None
        finally:
            self._forget_leaves(batch)

    def _forget_leaves(self, batch: Batch) -> None:
        """Takes back the leaves that wait for an answer which does not come: the run was interrupted, or has failed.

        Where it failed while evaluations were applied, the batch does not tell which still wait: all trees are cleared.
        """
        if batch.waiting[0].leaves:
            for tree, nodes in zip(self.forest.trees, self.forest.nodes, strict=True):
                nodes.virtual_loss[: tree.num_nodes] = 0
            self.forest.trees.pending[:] = 0
        batch.waiting[0].leaves = batch.waiting[0].rows = 0

    def _new_cache(self) -> Cache:
        return new_cache(self.game.num_actions, self.settings.cache_mib if self.evaluator else 0)

    def _select(self, batch: Batch) -> bool:
        """Fills the batch with leaves; returns whether any tree has simulations left to do."""
        rules, forest = self.game.rules, self.forest
        return select_leaves(rules, self.rule, self.rollout, self.settings, self._views, self._cache, forest, batch)

    def _apply_evaluations(self, batch: Batch, answer: tuple[np.ndarray, np.ndarray], num_rows: int) -> None:
        """Expands the leaves of the first `num_rows` rows, and backs up the evaluator's answer."""
        logits, values = (each[:num_rows] for each in answer)
        if self.settings.cache_mib:
            keep_answers(self._cache, batch.key, logits, values)
        rules, settings = self.game.rules, self.settings
        expand_and_backup(rules, self.rollout, settings, self._views, self.forest, batch, logits, values)
