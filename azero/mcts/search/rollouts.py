"""Trees whose leaves are evaluated by rollouts. Each tree is searched by one thread."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from azero.compiler.pace import CALL_S, next_size
from azero.errors import BrokenRules
from azero.games import Game
from azero.games.reasons import broken_rules
from azero.mcts.rollouts.playing import mean_length
from azero.mcts.scratch import Scratch, new_scratch
from azero.mcts.search.deadline import Deadline
from azero.mcts.search.settings import SearchParts, Settings
from azero.mcts.selection.strategies import needs_length
from azero.mcts.tree import Forest, new_forest
from azero.system.threads import share_among_threads

Simulate = Callable[[SearchParts, Forest, Scratch, int, int], bool]
"""Runs simulations in one tree. The last two arguments are the tree and the number of simulations, which the tree's
target limits. Returns whether the tree is done. `kernels.simulate` is one; `mcts/classical/` has others.
"""

_GAMES_FOR_A_LENGTH = 8
_SHORTEST_CALL_S = 1e-4  # of a kernel call in a timed search; Python's overhead is about a tenth of this
_FIRST_ROLLOUTS = 1  # simulations of the first call; later calls run more, depending on the time they take


class RolloutTrees:
    """Trees that are searched one after another. Threads share the trees.

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
