"""Trees whose leaves rollouts judge: each is searched by itself, and threads share them."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azero.compiler.pace import CALL_S, next_size
from azero.errors import BrokenRules
from azero.games import Game
from azero.games.state import broken_rules
from azero.mcts.rollouts.playing import mean_length
from azero.mcts.scratch import Scratch, new_scratch
from azero.mcts.search.settings import SearchParts
from azero.mcts.selection.strategies import needs_length
from azero.mcts.tree import Forest, new_forest
from azero.system.threads import share_among_threads

Simulate = Callable[[SearchParts, Forest, Scratch, int, int], bool]
"""Runs so many simulations (the last argument) in tree b (the one before), to its target at most; returns whether the
tree needs no more. `kernels.simulate` is one; those in `mcts/classical/` search otherwise.
"""

_GAMES_FOR_A_LENGTH = 8
_SHORTEST_CALL_S = 1e-4  # of a search by the clock: Python's part in a call takes about a tenth of it
_FIRST_ROLLOUTS = 1  # of a run; how many follow at once depends on how long they take


class RolloutTrees:
    """Trees one after another, each thread's share of them by itself.

    Args:
      histories: for each tree the actions that led to its root; whoever plays them keeps them up to date.
      simulate: runs the simulations.
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
        self._game, self._parts, self._simulate = game, parts, simulate
        self._histories = histories
        self.forest = new_forest(game.rules, len(histories), max_nodes)
        self._scratches = [new_scratch(game.rules) for _ in range(min(num_threads, len(histories)))]

    @property
    def scratch(self) -> Scratch:
        """Room for kernels while no search is under way."""
        return self._scratches[0]

    def prepare(self) -> None:
        """Compiles what a search needs, if that has not been done."""
        self.forest.trees.target[:] = 0
        self._simulate(self._parts, self.forest, self.scratch, 0, 0)

    def make_room(self, max_nodes: int) -> None:
        """Sees to it that each tree has room for so many nodes; what was in the trees is lost where they had not."""
        num_trees, room = self.forest.nodes.shape
        if room < max_nodes:
            self.forest = new_forest(self._game.rules, num_trees, max_nodes)

    def clear_cache(self) -> None:
        """Forgets what an evaluator has said: there is none."""

    def begin(self, trees: Sequence[int], num_simulations: int, temperature: float) -> None:
        """Begins a search in each of the trees; the others have none to do. A plain root asks for no temperature."""
        self.forest.trees.simulations[:] = self.forest.trees.target[:] = 0
        self.forest.trees.target[list(trees)] = num_simulations

    def run(self, trees: Sequence[int], deadline: float) -> None:
        """Runs simulations until each tree has had those it was set, or time is over."""
        share_among_threads(
            trees,
            self._scratches,
            lambda some, scratch, is_halted: self._simulate_all(some, scratch, deadline, is_halted),
        )

    def _simulate_all(
        self, trees: Sequence[int], scratch: Scratch, deadline: float, is_halted: threading.Event
    ) -> None:
        """Searches trees one after another, in calls that take some `CALL_S`, or a hundredth of the time, each.

        A hundredth of a short time is less than the call itself takes, so that `_SHORTEST_CALL_S` or what is left is.
        """
        now = time.perf_counter()
        seconds = deadline - now
        at_once = _FIRST_ROLLOUTS
        for b in trees:
            is_done = False
            try:
                if needs_length(self._parts.selection):
                    self._estimate_length(b, scratch)
                while not is_done and not is_halted.is_set():
                    start = now
                    is_done = self._simulate(self._parts, self.forest, scratch, b, at_once)
                    now = time.perf_counter()
                    left = deadline - now
                    if not is_done:
                        wanted_s = min(CALL_S, max(seconds / 100, _SHORTEST_CALL_S), left)
                        at_once = next_size(at_once, now - start, wanted_s)
                    if left <= 0:
                        break
            except BrokenRules as error:
                raise broken_rules(self._game.name, f"{error} in a search", self._histories[b]) from None

    def _estimate_length(self, b: int, scratch: Scratch) -> None:
        """Plays a few games by the game's own policy from the root of tree b, and notes how long they last."""
        root = self.forest.root_states[b]
        rng = self.forest.trees.rng[b : b + 1].copy().view(np.recarray)[0]  # so that the search's own stay the same
        room: Any = scratch.states, scratch.legal, rng, len(scratch.path)
        self.forest.trees[b].length = mean_length(self._game.rules, root, *room, _GAMES_FOR_A_LENGTH)
