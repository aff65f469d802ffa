"""Trees whose leaves are evaluated by an evaluator (`EvaluatedTrees`) or by rollouts (`RolloutTrees`).

The evaluator gets the leaves of all trees in batches. With several threads, two batches take turns in the trees, and
threads evaluate the passes of both. A turn backs up a batch, and collects its next leaves. Visits in flight lead the
batches to different leaves. The order of turns is fixed, so the same seed gives the same trees.

With rollouts each tree is searched by one thread.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from azero.errors import BrokenRules
from azero.games import Game
from azero.games.reasons import broken_rules
from azero.mcts.evaluation.cache import new_cache
from azero.mcts.evaluation.evaluator import Evaluator
from azero.mcts.rollouts.playing import mean_length
from azero.mcts.scratch import Scratch, new_scratch
from azero.mcts.search.deadline import Deadline
from azero.mcts.search.kernels import start_searches
from azero.mcts.search.lockstep import Answer, Walker
from azero.mcts.search.settings import SearchParts, Settings
from azero.mcts.selection import needs_length
from azero.mcts.tree import Forest, new_forest
from azero.system.pace import CALL_S, next_size
from azero.system.threads import share_among_threads

_NUM_BATCHES = 2
"""Batches of trees that several threads evaluate: while one has its turn in the trees, the threads have the other."""


class Crew:
    """Threads that evaluate the batches of several walkers, which have the same slots and trees."""

    def __init__(self, walkers: Sequence[Walker], evaluator: Evaluator, num_threads: int):
        self._walkers, self._evaluator, self._num_threads = walkers, evaluator, num_threads
        self._pool = ThreadPoolExecutor(num_threads)

    def run(self, deadline: Deadline) -> None:
        """Searches in the open slots until they are finished or the deadline has passed."""
        waiting: deque[tuple[Walker, list[Future[Answer]]]] = deque()
        idle, is_last = list(self._walkers), False
        try:
            while True:
                if waiting:
                    walker, passes = waiting[0]
                    logits, values = zip(*(each.result() for each in passes), strict=True)
                    waiting.popleft()
                    is_last = is_last or deadline.has_passed()
                    walker.take_turn((np.concatenate(logits), np.concatenate(values)), is_last)
                    idle.append(walker)
                for walker in () if is_last else tuple(idle):
                    if not len(walker.planes):
                        walker.walk()
                    if len(walker.planes):
                        idle.remove(walker)
                        waiting.append((walker, self._evaluating(walker.planes)))
                if not waiting and (is_last or deadline.has_passed() or not self._walkers[0].slots.is_open.any()):
                    return
        finally:  # after Ctrl-C the passes that have begun are waited for, since they use the planes
            for _, passes in waiting:
                for each in passes:
                    each.exception()

    def _evaluating(self, planes: np.ndarray) -> list[Future[Answer]]:
        """Begins to evaluate planes, [R, C, H, W], in passes."""
        rows = self._evaluator.rows or -(-len(planes) // self._num_threads)
        passes = [planes[at : at + rows] for at in range(0, len(planes), rows)]
        return [self._pool.submit(self._evaluator.evaluate, each) for each in passes]


class OneSearch(NamedTuple):
    """Slots in which each tree is searched once."""

    is_open: np.ndarray  # [B] bool

    def is_under_way(slots, b):
        return slots.is_open[b]

    def end_search(slots, parts, forest, scratch, b):
        slots.is_open[b] = False
        return True

    def is_clocked(slots):
        return True


class EvaluatedTrees:
    """Searches all trees side by side. Batches of their leaves go to the evaluator.

    Raises BrokenRules if the game's rules are broken.

    Args:
      max_nodes: the limit on the nodes of each tree.
      num_threads: threads that evaluate leaves side by side.

    Attributes:
      walker: has the first batch; without several threads it is the only one.
    """

    def __init__(
        self,
        game: Game,
        parts: SearchParts,
        evaluator: Evaluator,
        num_trees: int,
        max_nodes: int,
        num_threads: int = 1,
    ):
        self._game, self._evaluator = game, evaluator
        self._slots = OneSearch(np.zeros(num_trees, np.bool_))
        self.forest = new_forest(game.rules, num_trees, max_nodes)
        num_walkers = _NUM_BATCHES if num_threads > 1 else 1
        share = -(-parts.settings.leaves_per_tree // num_walkers) if num_threads > 1 else None
        self._walkers = [Walker(parts, self._slots, self.forest, share) for _ in range(num_walkers)]
        self.walker = self._walkers[0]
        self._crew = Crew(self._walkers, evaluator, num_threads) if num_threads > 1 else None

    @property
    def parts(self) -> SearchParts:
        """The parts of the search."""
        return self.walker.parts

    @property
    def scratch(self) -> Scratch:
        """Scratch memory for kernels while no search is running."""
        return self.walker.scratch

    def prepare(self) -> None:
        """Compiles the kernels of a search, if they are not compiled yet."""
        walker = self.walker
        start_searches(self.parts.settings, self.forest, np.zeros(0, np.int64), 0, 0.0, walker.scratch.weights)
        self.forest.trees.target[:] = 0
        walker.walk()
        logits, values = self._evaluator.evaluate(np.zeros((1, *self._game.planes_shape), np.float32))
        walker.apply((logits[:0], values[:0]))

    def use_settings(self, settings: Settings) -> None:
        """Searches with other settings of the same types from now on."""
        for walker in self._walkers:
            walker.parts = walker.parts._replace(settings=settings)

    def use_nodes(self, nodes: np.recarray) -> None:
        """Continues with other nodes, [B, M] NODE_DTYPE."""
        self.forest = self.forest._replace(nodes=nodes)
        for walker in self._walkers:
            walker.forest = self.forest

    def clear_cache(self) -> None:
        """Forgets all answers of the evaluator."""
        parts = self.parts._replace(cache=new_cache(self.parts.settings.cache_mib))
        for walker in self._walkers:
            walker.parts = parts

    def begin(self, trees: Sequence[int], num_simulations: int, temperature: float) -> None:
        """Begins a search in each of the given trees, and in no other."""
        self.forest.trees.simulations[:] = self.forest.trees.target[:] = 0
        settings, chosen = self.parts.settings, np.array(trees, np.int64)
        start_searches(settings, self.forest, chosen, num_simulations, temperature, self.scratch.weights)

    def open(self, trees: Sequence[int]) -> int:
        """Opens the slots of the given trees, and no others; returns their number."""
        self._slots.is_open[:] = False
        self._slots.is_open[list(trees)] = True
        return int(self._slots.is_open.sum())

    def run(self, trees: Sequence[int], deadline: Deadline) -> None:
        """Runs simulations until each tree has reached its target, or the deadline has passed."""
        num_open = self.open(trees)
        with rules_named(self._game):
            try:
                if self._crew:
                    self._crew.run(deadline)
                else:
                    self._run_alone(num_open, deadline)
            finally:
                for walker in self._walkers:
                    walker.forget_leaves()

    def _run_alone(self, num_open: int, deadline: Deadline) -> None:
        while num_open > 0:
            num_open -= self.walker.walk()
            planes = self.walker.planes
            if len(planes):
                self.backup(self._evaluator.evaluate(planes))
            if deadline.has_passed():
                return

    def backup(self, answer: Answer) -> None:
        """Backs up the evaluator's answer to the planes that wait, and stores it in the cache, if there is one."""
        self.walker.apply(answer)


@contextmanager
def rules_named(game: Game) -> Iterator[None]:
    """Adds the game's name to a BrokenRules error from a kernel."""
    try:
        yield
    except BrokenRules as error:
        raise broken_rules(game.name, f"{error}, in a search", []) from None


Simulate = Callable[[SearchParts, Forest, Scratch, int, int], bool]
"""Runs simulations in one tree. The last two arguments are the tree and the number of simulations, which the tree's
target limits. Returns whether the tree is done. `kernels.simulate` is one; `mcts/classical/` has others.
"""

_GAMES_FOR_A_LENGTH = 8
_SHORTEST_CALL_S = 1e-4  # of a kernel call in a timed search; Python's overhead is about a tenth of this
_FIRST_ROLLOUTS = 1  # simulations of the first call; later calls run more, depending on the time they take


class RolloutTrees:
    """Trees that are searched one after another, with rollouts. Threads share the trees.

    Args:
      histories: for each tree the actions that led to its root; the caller keeps them up to date.
      simulate: runs the simulations.

    Attributes:
      parts: the parts of the search.
    """

    def __init__(
        self,
        game: Game,
        parts: SearchParts,
        simulate: Simulate,
        histories: Sequence[list[int]],
        max_nodes: int,
        num_threads: int,
    ):
        self._game, self.parts, self._simulate = game, parts, simulate
        self._histories = histories
        self.forest = new_forest(game.rules, len(histories), max_nodes)
        self._scratches = [new_scratch(game.rules) for _ in range(min(num_threads, len(histories)))]
        self._pool = ThreadPoolExecutor(len(self._scratches))

    @property
    def scratch(self) -> Scratch:
        """Scratch memory for kernels while no search is running."""
        return self._scratches[0]

    def prepare(self) -> None:
        """Compiles the kernels of a search, if they are not compiled yet."""
        self.forest.trees.target[:] = 0
        self._simulate(self.parts, self.forest, self.scratch, 0, 0)

    def make_room(self, max_nodes: int) -> None:
        """Makes room for `max_nodes` nodes in each tree. If the trees have to grow, their contents are lost."""
        num_trees, room = self.forest.nodes.shape
        if room < max_nodes:
            self.forest = new_forest(self._game.rules, num_trees, max_nodes)

    def use_settings(self, settings: Settings) -> None:
        """Searches with other settings of the same types from now on."""
        self.parts = self.parts._replace(settings=settings)

    def use_nodes(self, nodes: np.recarray) -> None:
        """Continues with other nodes, [B, M] NODE_DTYPE."""
        self.forest = self.forest._replace(nodes=nodes)

    def clear_cache(self) -> None:
        """Does nothing: without an evaluator there is no cache."""

    def begin(self, trees: Sequence[int], num_simulations: int, temperature: float) -> None:
        """Begins a search in each of the given trees, and in no other. A plain root ignores the temperature."""
        self.forest.trees.simulations[:] = self.forest.trees.target[:] = 0
        self.forest.trees.target[list(trees)] = num_simulations

    def run(self, trees: Sequence[int], deadline: Deadline) -> None:
        """Runs simulations until each tree has reached its target, or the deadline has passed."""
        share_among_threads(
            trees,
            self._scratches,
            lambda some, scratch, is_halted: self._simulate_all(some, scratch, deadline, is_halted),
            self._pool,
        )

    def _simulate_all(
        self, trees: Sequence[int], scratch: Scratch, deadline: Deadline, is_halted: threading.Event
    ) -> None:
        """Searches trees one after another, in kernel calls of about `CALL_S`, so that the deadline is checked often.

        If time is short, calls take a hundredth of it, but not less than `_SHORTEST_CALL_S` or the time that is left.
        """
        now, seconds = time.perf_counter(), deadline.left_s()
        at_once = _FIRST_ROLLOUTS
        for b in trees:
            is_done = False
            try:
                if needs_length(self.parts.selection):
                    self._estimate_length(b, scratch)
                while not is_done and not is_halted.is_set():
                    start = now
                    is_done = self._simulate(self.parts, self.forest, scratch, b, at_once)
                    now = time.perf_counter()
                    left = deadline.left_s()
                    if not is_done:
                        wanted_s = min(CALL_S, max(seconds / 100, _SHORTEST_CALL_S), left)
                        at_once = next_size(at_once, now - start, wanted_s)
                    if left <= 0:
                        break
            except BrokenRules as error:
                raise broken_rules(self._game.name, f"{error}, in a search", self._histories[b]) from None

    def _estimate_length(self, b: int, scratch: Scratch) -> None:
        """Sets the expected length of tree b: the mean plies of a few games by the game's own rollout policy."""
        root = self.forest.root_states[b]
        rng = self.forest.trees.rng[b : b + 1].copy().view(np.recarray)[0]  # a copy: the search's generator stays as is
        room: Any = scratch.states, scratch.legal, rng, len(scratch.path)
        self.forest.trees[b].length = mean_length(self._game.rules, root, *room, _GAMES_FOR_A_LENGTH)
