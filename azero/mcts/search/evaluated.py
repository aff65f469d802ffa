"""Trees whose leaves are evaluated by an evaluator, in batches over all trees.

Several threads may search the same trees: they take turns in the trees, and evaluate their leaves side by side. A turn
backs up a thread's last batch and collects the next one. Visits in flight lead the threads to different leaves. The
order of turns differs from run to run, and so do the trees.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from azero.errors import BrokenRules
from azero.games import Game
from azero.games.reasons import broken_rules
from azero.mcts.evaluation.cache import new_cache
from azero.mcts.evaluation.evaluator import Evaluator
from azero.mcts.scratch import Scratch
from azero.mcts.search.deadline import Deadline
from azero.mcts.search.kernels import start_searches
from azero.mcts.search.lockstep import Answer, Walker
from azero.mcts.search.settings import SearchParts, Settings
from azero.mcts.tree import new_forest

_PAUSE_S = 5e-5
"""Between turns of a thread that found no leaf, because all that it can reach wait for other threads."""


class Crew:
    """Threads with a walker each. All walkers have the same slots and trees.

    Args:
      evaluate: takes planes [R, C, H, W] float32; several threads call it at the same time.
    """

    def __init__(self, walkers: Sequence[Walker], evaluate: Callable[[np.ndarray], Answer], num_actions: int):
        self._walkers, self._evaluate = walkers, evaluate
        self._no_answer = np.zeros((0, num_actions), np.float32), np.zeros(0, np.float32)
        self._pool = ThreadPoolExecutor(len(walkers))

    def run(self, deadline: Deadline) -> None:
        """Searches in the open slots until they are finished or the deadline has passed."""
        is_halted = threading.Event()
        shares = [self._pool.submit(self._work, walker, deadline, is_halted) for walker in self._walkers]
        try:
            for share in shares:
                share.result()
        finally:  # after Ctrl-C the threads, which receive no signal, end after their turns
            is_halted.set()
            for share in shares:
                share.exception()

    def _work(self, walker: Walker, deadline: Deadline, is_halted: threading.Event) -> None:
        """Takes turns. All changes of the trees are in `take_turn`, which no other thread interrupts."""
        answer = self._no_answer
        try:
            while not is_halted.is_set():
                is_last = len(answer[1]) > 0 and deadline.has_passed()
                walker.take_turn(answer, is_last)
                if len(walker.planes):
                    answer = self._evaluate(walker.planes)
                elif is_last or deadline.has_passed() or not walker.slots.is_open.any():
                    return
                else:
                    answer = self._no_answer
                    time.sleep(_PAUSE_S)
        except BaseException:
            is_halted.set()  # the others would wait for this thread's leaves
            raise


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
      num_threads: threads that search a tree together, with an equal share of its leaves each.

    Attributes:
      walker: searches the trees, if no other thread does.
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
        share = parts.settings.leaves_per_tree // num_threads if num_threads > 1 else None
        self._walkers = [Walker(parts, self._slots, self.forest, share) for _ in range(num_threads)]
        self.walker = self._walkers[0]
        self._crew = Crew(self._walkers, evaluator.evaluate, game.num_actions) if num_threads > 1 else None

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
        walker.keep((logits[:0], values[:0]))
        walker.apply_evaluations((logits[:0], values[:0]))
        if self._crew:
            walker.take_turn((logits[:0], values[:0]))

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
        self.walker.keep(answer)
        self.walker.apply_evaluations(answer)


@contextmanager
def rules_named(game: Game) -> Iterator[None]:
    """Adds the game's name to a BrokenRules error from a kernel."""
    try:
        yield
    except BrokenRules as error:
        raise broken_rules(game.name, f"{error}, in a search", []) from None
