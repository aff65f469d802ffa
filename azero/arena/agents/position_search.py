"""Searches one position after another on all threads, and keeps the trees of those that it has searched."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from azero.arena.agents.suggestion import Suggestion, suggestion_of
from azero.games import State
from azero.games.contract import sign_of
from azero.mcts import TreeSearch
from azero.mcts.kept_trees import Positions, added_roots, search_in_shares
from azero.mcts.proving.root_solver import KnownMove
from azero.mcts.proving.wins import first_win
from azero.mcts.search.analysis import mean_values, root_value
from azero.mcts.search.deadline import Deadline
from azero.mcts.tree import NODE_DTYPE, UNPROVEN, children_of

MIB = 1 << 20

_WEIGHTY = 0.1
"""A move has visits enough to be compared by value if it has this part of those of the most visited move."""

SOLVE_NODES = 1 << 16
"""The most positions that the solver of an analysis visits, unless the agent's settings have a limit. It takes about as
long as a slice of the server's time, which it does not wait for."""

SOLVED_AFTER = 500
"""Visits of a root before its solver begins. The solver tries moves in the order of their visits."""


def nodes_within(mib: int, num_trees: int) -> int:
    """Returns the limit on the nodes of each of `num_trees` trees. They may take half of `mib`, kept trees the rest."""
    return mib * MIB // 2 // NODE_DTYPE.itemsize // num_trees


class Standing(NamedTuple):
    """How a search stands: what time management looks at. Values are in [-1, 1], for the player to move."""

    visits: int
    value: float  # of the position
    most: int  # visits of the most visited action
    second: int  # those of the second most visited
    is_best_valued: bool  # whether no other move that has visits enough has a better value


class PositionSearch:
    """Searches one position at a time; see `Positions` for what it keeps.

    Args:
      search: searches of trees of one position each; with several trees, threads share them and their roots are added.
      kept_bytes: memory of the kept trees.
      seed: of all random choices.

    Attributes:
      lock: held by whoever uses it, if several threads may.
    """

    def __init__(self, search: TreeSearch, kept_bytes: int, seed: int):
        search.search_completely()
        self._search = search
        self._positions = Positions(search, kept_bytes, seed)
        self._pool = ThreadPoolExecutor(1)
        self._solving: Future[dict[int, KnownMove]] | None = None
        self._end_of_solving = Deadline()
        self._is_asked = False
        self.lock = threading.Lock()

    @property
    def visits(self) -> int:
        """Visits of the position, kept ones included."""
        return self._positions.visits

    @property
    def can_leave_out(self) -> bool:
        """Returns whether moves can be left out: whether the search has a tree of actions, and nothing else."""
        return self._positions.can_keep

    @property
    def is_decided(self) -> bool:
        """Returns whether the position's result is proven, so that more simulations cannot change it."""
        return bool(self._search.settings.is_proving and (self._search.forest.nodes["proven"][:, 0] != UNPROVEN).any())

    @property
    def is_full(self) -> bool:
        """Returns whether a tree stopped growing for lack of nodes."""
        return bool(self._search.forest.trees.is_full.any())

    @property
    def num_bytes(self) -> int:
        """Memory of the position's trees that is in use."""
        return int(self._search.forest.trees.num_nodes.sum()) * NODE_DTYPE.itemsize

    def remembers(self, state: State) -> bool:
        """Returns whether it has trees of a position, with all of its moves."""
        return self._positions.remembers(state)

    def prepare(self) -> None:
        """Compiles everything that is not compiled yet."""
        state = self._search.game.new_initial_state()
        self._search.prepare(state, lambda: self._use(state))
        self.go_to(state)
        self._use(state)

    def _use(self, state: State) -> None:
        """Calls what uses trees, which have been searched from `state`."""
        self._positions.state = state
        self.standing()
        self.suggestion()
        first_win(state)
        line = state.legal_actions()[:1]
        after = state.clone()
        after.apply_action(line[0])
        state.game.lines_to_text(state, [line + after.legal_actions()[:1]])  # as of a principal variation
        if self._positions.can_keep:
            self.go_to(state, frozenset(state.legal_actions()[:1]))

    def go_to(self, state: State, allowed: frozenset[int] | None = None) -> None:
        """Makes `state` the position to search, from its kept trees if there are any.

        Args:
          allowed: the only moves to search, if the search can leave out moves; None: all.
        """
        self._end_solving()
        self._positions.go_to(state, allowed)

    def go_on(self, most_visits: int, deadline: Deadline, stops_when_full: bool = True) -> None:
        """Searches until the position has `most_visits`, is decided, a tree is full, or the deadline has passed.

        If it does not stop when a tree is full, the other nodes get the visits.
        """
        while not (self.is_done(most_visits, stops_when_full) or deadline.has_passed()):
            self._solve()
            until = most_visits
            if self._may_solve():  # a pause in which the solver begins
                until = min(most_visits, max(SOLVED_AFTER, self.visits + 1))
            search_in_shares(self._search, until - self.visits, deadline)

    def is_done(self, most_visits: int, stops_when_full: bool = True) -> bool:
        """Returns whether more time would not be used."""
        return self.visits >= most_visits or self.is_decided or (stops_when_full and self.is_full)

    def ask_for_truth(self, is_asked: bool) -> None:
        """Lets a solver try the positions from now on even if the agent's settings have none, or no longer."""
        self._is_asked = is_asked and self._positions.can_keep
        if self._is_asked:
            self._search.add_solver(SOLVE_NODES)

    def standing(self) -> Standing:
        """Returns how the search stands."""
        visits = self.visits
        with added_roots(self._search):
            nodes = self._search.forest.nodes[0]
            children = nodes[children_of(nodes)].view(np.ndarray)
            N = children["N"]
            best = int(N.argmax())
            values = mean_values(sign_of(int(nodes[0].player)), children)
            return Standing(
                visits=visits,
                value=root_value(self._search),
                most=int(N[best]),
                second=int(np.delete(N, best).max(initial=0)),
                is_best_valued=bool(values[best] >= values[_WEIGHTY * N[best] <= N].max()),
            )

    def suggestion(self) -> Suggestion:
        """Returns the moves of the position, ranked. Simulations are all visits, kept ones included."""
        visits, state = self.visits, self._positions.state
        assert state is not None, "go_to comes first"
        with added_roots(self._search):
            return replace(suggestion_of(self._search, state), simulations=visits, is_tree_full=self.is_full)

    def visits_along(self, line: Sequence[int]) -> list[int]:
        """Returns the visits of each action of a line of play from the position on; 0 beyond the trees."""
        visits = [0] * len(line)
        for nodes in self._search.forest.nodes.view(np.ndarray):
            index = 0
            for ply, action in enumerate(line):
                below = children_of(nodes, index)
                found = np.flatnonzero(nodes["action"][below.start : below.stop] == action)
                if not len(found):
                    break
                index = below.start + int(found[0])
                visits[ply] += int(nodes["N"][index])
        return visits

    def close(self) -> None:
        """Ends the thread of the solver. An analysis that still runs has to be stopped before."""
        with self.lock:
            self._end_solving()
            self._pool.shutdown()

    def _may_solve(self) -> bool:
        has_own = self._search.settings.solve_nodes > 0
        return self._search.can_solve and (has_own or self._is_asked) and not self._positions.is_solver_done

    def _solve(self) -> None:
        """Begins to solve the root once it has enough visits; the solver works beside the search. Takes its answer."""
        if self._solving is not None and self._solving.done():
            self._search.learn_moves(0, self._solving.result())
            self._solving = None
        elif self._may_solve() and self.visits >= SOLVED_AFTER:
            self._positions.is_solver_done = True
            self._end_of_solving = Deadline()
            self._solving = self._pool.submit(self._search.solving(0), self._end_of_solving.has_passed)

    def _end_solving(self) -> None:
        """Ends the solver before the position changes. If it was not done, it may try again."""
        if self._solving is not None:
            was_done = self._solving.done()
            self._end_of_solving.stop()
            self._search.learn_moves(0, self._solving.result())
            self._positions.is_solver_done = was_done
            self._solving = None
