"""Agents that search with a tree: plain UCT and its relatives, and PUCT with a net."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.analysis import MOST_MIB, Analysis, Bounds, TreeAnalysis
from azero.arena.agents.clock import UNLIMITED, Clock, Limit
from azero.arena.agents.game_player import GamePlayer, Thought
from azero.arena.agents.position_search import MIB, PositionSearch, nodes_within
from azero.arena.agents.suggestion import RESIGN, Suggestion, check_state, suggestion_of
from azero.compiler.arguments import drop_unheld
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import Game, State
from azero.mcts import MAX_NODES, TreeSearch, nodes_needed, root_value, trees_that_fit
from azero.mcts.kept_trees import added_roots, search_in_shares
from azero.mcts.search.analysis import SearchTree, tree_of
from azero.mcts.search.deadline import Deadline
from azero.mcts.search.lockstep import FIRST_LEAVES
from azero.mcts.tree import NODE_DTYPE
from azero.system.threads import SLICE_S, Slices, finish

VISITS_PER_LEAF = 50
"""One more leaf of a tree may wait for the net for every so many visits of the root."""

_FEWEST_SIMULATIONS = 200
"""A suggestion of fewer simulations has one leaf at a time, so the number of threads changes nothing."""

_SIMULATIONS_PER_TREE = 10_000
"""A suggestion of fewer simulations has one tree; threads have one each in longer ones."""

_NO_TIME = 1e-9  # seconds: a search of one simulation, that solves nothing


class SearchAgent(Agent):
    """Judges positions by search.

    Args:
      make_search: returns a search, given the number of trees, the most nodes of a tree, and how many leaves of a tree
        may wait for the evaluator. This is 1 if many trees share it, and more for a single tree.
      most_leaves: the limit on this number.
      most_trees: how many trees a single position may have, each with a thread.
    """

    can_ponder = True

    def __init__(
        self,
        name: str,
        game: Game,
        limit: Limit,
        make_search: Callable[[int, int, int], TreeSearch],
        seed: int = 0,
        most_leaves: int = 1,
        most_trees: int = 1,
    ):
        super().__init__(name, game, seed)
        self.limit = limit
        self.make_search, self._most_leaves, self._most_trees = make_search, most_leaves, most_trees
        self._alone_size = (0, 0, 0)
        self._searched_mib = 0  # of memory, by the search of single positions
        self._forget()

    def _forget(self) -> None:
        """Begins without any search."""
        self.player = SearchPlayer(self)
        self._alone: TreeSearch | None = None  # the search of `suggest`
        self._position_search: PositionSearch | None = None  # that of analyses and of games on a clock
        self._analysis: Analysis | None = None

    def new_search(self, num_trees: int = 1, max_nodes: int = 1) -> TreeSearch | None:
        search = self.make_search(num_trees, max_nodes, 1)
        return search if type(search) is TreeSearch else None

    def leaves(self, simulations: int = UNLIMITED) -> int:
        """Returns how many leaves of a tree may wait for the net at the end of a search."""
        if simulations < _FEWEST_SIMULATIONS:
            return 1
        return min(self._most_leaves, FIRST_LEAVES + simulations // VISITS_PER_LEAF)

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        return finish(self._suggesting(state, simulations, seconds))

    def suggesting(
        self,
        state: State,
        simulations: int | None = None,
        seconds: float | None = None,
        ending: Deadline | None = None,
    ) -> Slices[Suggestion]:
        return self._suggesting(state, simulations, seconds, ending, SLICE_S)

    def apart(self) -> Self:
        agent = super().apart()
        agent._forget()
        return agent

    def _suggesting(
        self,
        state: State,
        simulations: int | None,
        seconds: float | None,
        ending: Deadline | None = None,
        slice_s: float = math.inf,
    ) -> Slices[Suggestion]:
        check_state(self.game, state)
        limit = self.limit.unless(simulations, seconds)
        begin = time.perf_counter()
        if self._prepare_alone(limit, state):
            begin = time.perf_counter()
        suggestion = yield from self._searching_alone(state, limit, ending or Deadline(), slice_s)
        answers = self._answers_of_net(state)
        return replace(suggestion, elapsed_s=time.perf_counter() - begin, **answers)

    def _prepare_alone(self, limit: Limit, state: State) -> bool:
        """Prepares the search of one position for a limit. Returns whether it is the first one, which compiles."""
        num_trees = max(1, min(self._most_trees, limit.simulations // _SIMULATIONS_PER_TREE))
        share = limit.simulations // num_trees + 1
        wanted = min(MAX_NODES, share * self.game.num_actions + self.game.num_actions + 1)
        size = num_trees, wanted, self.leaves(limit.simulations)
        if self._alone is not None and self._alone_size == size:
            return False
        is_first = self._alone is None
        self._alone, self._alone_size = self.make_search(*size), size
        search = self._alone
        search.prepare(state, lambda: suggestion_of(search, state))
        if is_first:
            finish(self._searching_alone(state, Limit(1, _NO_TIME), Deadline(), math.inf))
            self._answers_of_net(state)
        return is_first

    def _searching_alone(self, state: State, limit: Limit, ending: Deadline, slice_s: float) -> Slices[Suggestion]:
        search = self._alone
        assert search is not None, "_prepare_alone comes first"
        num_trees = len(search.forest.trees)
        for b in range(num_trees):
            names = ("suggest", b) if b else ("suggest",)
            search.start(b, state, derive_seed(self.seed, *names))
        if num_trees == 1:
            for _ in search.running([0], limit.simulations, limit.seconds, slice_s=slice_s):
                if ending.has_passed():
                    break
                yield
            return suggestion_of(search, state)
        if limit.seconds:
            ending.time_s = min(ending.time_s, time.perf_counter() + limit.seconds)
        search_in_shares(search, limit.simulations, ending)
        with added_roots(search):
            trees = search.forest.trees
            total, is_full = int(trees.simulations.sum()), bool(trees.is_full.any())
            return replace(suggestion_of(search, state), simulations=total, is_tree_full=is_full)

    def _answers_of_net(self, state: State) -> dict[str, Any]:
        """Returns the fields of a suggestion that depend on the net alone.

        These are its library and precision, and the answers of kept heads: arrays [H, W], or numbers.
        """
        runtime, precision = self.runtime or (None, None)
        return {"runtime": runtime, "precision": precision, "heads": self.heads_of(state)}

    def _begin_analysis(self, state: State, interval: float, memory_mib: int, bounds: Bounds) -> Analysis:
        self.end_analysis()
        search = self.position_search(memory_mib)
        self._check_moves(bounds, search.can_leave_out)
        self._analysis = TreeAnalysis(search, state, interval, bounds, lambda: self._answers_of_net(state))
        return self._analysis

    def end_analysis(self) -> None:
        """Ends the last analysis: the next search of a position may be another one's."""
        if self._analysis is not None:
            self._analysis.close()
            self._analysis = None

    def position_search(self, memory_mib: int | None = None) -> PositionSearch:
        if not self.can_ponder:
            what = "its root begins each search with an empty tree"
            raise BadInput(f"agent {self.name!r} neither analyses nor plays on a clock: {what}")
        memory_mib = self.memory_mib if memory_mib is None else memory_mib
        if self._position_search is None or self._searched_mib != memory_mib:
            if memory_mib > MOST_MIB:
                raise BadInput(f"memory_mib = {memory_mib} should be {MOST_MIB} or less")
            least = 2 * self.game.num_actions + 1
            max_nodes = nodes_within(memory_mib, self._most_trees)
            if max_nodes < least:
                needed = 2 * least * NODE_DTYPE.itemsize * self._most_trees // MIB + 1
                raise BadInput(f"memory_mib = {memory_mib} should be {needed} or more for a tree of {self.game}")
            if self._position_search is not None:
                self._position_search.close()
            search = self.make_search(self._most_trees, max_nodes, self.leaves())
            if len(search.forest.nodes[0]) > max_nodes:  # the agent's own limit is larger
                search.use_nodes(np.empty((self._most_trees, max_nodes), NODE_DTYPE).view(np.recarray))
            self._position_search = PositionSearch(search, memory_mib * MIB // 2, self.seed)
            self._searched_mib = memory_mib
            self._position_search.prepare()
        return self._position_search

    def tree(self) -> SearchTree:
        if self._alone is None:
            raise BadInput(f"agent {self.name!r} has no search tree yet: ask it for a suggestion first")
        tree = tree_of(self._alone.forest, 0)
        if any(self._alone.actions_of(0, action) != [action] for action in tree.action[tree.children()].tolist()):
            raise BadInput(f"agent {self.name!r} has no tree of actions: the moves of its root are whole turns")
        return tree

    def close(self) -> None:
        """Releases trees, cache and the net's runtime, hundreds of MiB, without waiting for garbage collection."""
        self.end_analysis()
        if self._position_search is not None:
            self._position_search.close()
        self._forget()
        drop_unheld()


class SearchPlayer(GamePlayer):
    """Plays with a search that has a tree for each slot.

    A limit on simulations searches all slots together; a limit on seconds searches them one by one. On a clock, the
    agent's `position_search` searches.
    """

    agent: SearchAgent

    def __init__(self, agent: SearchAgent):
        super().__init__(agent)
        self._search: TreeSearch | None = None
        self._kind = (0, False)  # its most nodes of a tree, and whether it has several: moves may depend on both
        self._made: dict[int, int] = {}  # simulations of each slot's last search
        self._is_going_on: dict[int, bool] = {}  # whether each slot's last action went on with a turn chosen before

    @property
    def most_slots(self) -> int:
        return trees_that_fit(self.agent.game, self.agent.limit.simulations)

    @property
    def search(self) -> TreeSearch:
        """Its search, after `start`."""
        assert self._search is not None, "start comes first"
        return self._search

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        agent, self._first_game = self.agent, first_game
        kind = nodes_needed(agent.game, agent.limit.simulations), num_slots > 1
        if self._search is None or self._kind != kind or len(self._search.forest.trees) < num_slots:
            self._search = agent.make_search(num_slots, kind[0], agent.leaves() if agent.limit.seconds else 1)
            self._search.prepare(states[0])
            self._search.start(0, states[0], seed=0)
            self._search.choose(0)  # compiles it, if necessary, outside the measured time, and `advance` next
            self._search.advance(0, states[0].legal_actions()[0])
            self._kind = kind
        for slot, state in enumerate(states):
            self._search.start(slot, state, self.seed_of(slot))

    def advance(self, slot: int, action: int) -> None:
        self.search.advance(slot, action)

    def _count_moves(self, slots: Sequence[int]) -> int:
        return sum(not self.search.is_within_turn(slot) for slot in slots)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        search, limit = self.search, self.agent.limit
        self._is_going_on |= {slot: search.is_within_turn(slot) for slot in slots}
        for some in [slots] if limit.seconds is None else [[slot] for slot in slots]:
            search.run(some, limit.simulations, limit.seconds)
            made = search.forest.trees.simulations[list(some)]
            self._made |= zip(some, made.tolist(), strict=True)
            self.simulations += int(made.sum())
            self.full_trees += int(search.forest.trees.is_full[list(some)].sum())
        return [RESIGN if self._resigns_in(slot) else search.choose(slot) for slot in slots]

    def _resigns_in(self, slot: int) -> bool:
        return self.agent.resign_below is not None and self.agent.resigns(root_value(self.search, slot))

    def thought(self, slot: int) -> Thought | None:
        return None if self._is_going_on[slot] else Thought(root_value(self.search, slot), self._made[slot])

    def start_clock(self) -> None:
        super().start_clock()
        self.agent.end_analysis()
        self.agent.position_search()

    def _play_on_clock(self, state: State, clock: Clock) -> Suggestion:
        self.agent.end_analysis()
        search, limit = self.agent.position_search(), self.agent.limit.beside_clock()
        begin = time.perf_counter()
        with search.lock:
            search.ask_for_truth(False)
            limits = limit.simulations, limit.seconds or float("inf")
            made = self.time_manager.think(search, state, clock, *limits, self.goes_on)
            found = search.suggestion()
        elapsed_s = time.perf_counter() - begin
        runtime, precision = self.agent.runtime or (None, None)
        return replace(found, simulations=made, elapsed_s=elapsed_s, runtime=runtime, precision=precision)
