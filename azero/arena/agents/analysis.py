"""An analysis: a search of one position that reports while it runs, until it is told to stop; and pondering."""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from azero.arena.agents.clock import UNLIMITED
from azero.arena.agents.position_search import PositionSearch
from azero.arena.agents.suggestion import Suggestion
from azero.errors import BadInput
from azero.games import State
from azero.mcts.search.deadline import Deadline

if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent

MEMORY_MIB = 1024
"""Memory of an analysis, unless another limit is given."""

MOST_MIB = 8192
"""The most memory of an analysis: trees have 32-bit places."""

_SHORTEST_INTERVAL_S = 0.001

_SETTLED_AFTER = 10_000
"""Simulations after which a draw or a loss that the solver has proven ends an analysis. Until then the search looks for
the moves that an opponent may answer wrongly."""

FIRST_REPORT_S = 0.05
"""When the first report comes, if the interval is longer."""


class Bounds(NamedTuple):
    """When an analysis ends by itself, and which moves it may search."""

    simulations: int | None  # of the position, kept ones included; None: no limit
    seconds: float | None  # None: no limit
    allowed: frozenset[int] | None  # None: all


class Analysis(Iterator[Suggestion], ABC):
    """An iterator over reports. The search runs while the caller waits for a report.

    The last report comes when the analysis has ended: by `stop`, at a limit, or because the result is proven.

        with agent.analyse(state, interval=0.5) as analysis:
            for suggestion in analysis:
                ...

    Any thread may call `stop`. Then the thread that waits gets its last report within about 50 ms. An agent that cannot
    interrupt its search has a single report, and `stop` does not end it sooner.

    Attributes:
      is_over: whether no further report comes.
    """

    is_over = False

    @abstractmethod
    def stop(self) -> None:
        """Ends the analysis. The next report is the last one."""

    @abstractmethod
    def close(self) -> None:
        """Ends the analysis, without another report."""

    def __enter__(self) -> "Analysis":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class SingleReport(Analysis):
    """The analysis of an agent that cannot interrupt its search: one report, at its end."""

    def __init__(self, suggest: Callable[[], Suggestion]):
        self._suggest = suggest

    def __next__(self) -> Suggestion:
        if self.is_over:
            raise StopIteration
        self.is_over = True
        return self._suggest()

    def stop(self) -> None:
        pass  # the report that comes is the last one

    def close(self) -> None:
        self.is_over = True


class TreeAnalysis(Analysis):
    """The analysis of an agent that searches with a tree.

    Args:
      interval: seconds from one report to the next; the first one comes after `FIRST_REPORT_S`.
      more: returns further fields of the reports, such as the answers of the net's heads.
    """

    def __init__(
        self,
        search: PositionSearch,
        state: State,
        interval: float,
        bounds: Bounds,
        more: Callable[[], dict[str, Any]],
    ):
        self._search, self._state, self._allowed = search, state.clone(), bounds.allowed
        self._simulations = UNLIMITED if bounds.simulations is None else bounds.simulations
        self._seconds = float("inf") if bounds.seconds is None else bounds.seconds
        self._interval, self._more = interval, more
        self._deadline = Deadline()
        self._begin: float | None = None
        self._next = min(interval, FIRST_REPORT_S)
        self._report_s = 0.0  # the longest time that a report took, which the last one needs within the limit
        self._before = 0  # visits before this analysis
        self._fields: dict[str, Any] = {}

    def __next__(self) -> Suggestion:
        with self._search.lock:  # another analysis with this search may not have returned yet
            if self.is_over:
                raise StopIteration
            return self._think()

    def _think(self) -> Suggestion:
        if self._begin is None:
            self._search.ask_for_truth(True)
            begin = time.perf_counter()
            self._search.go_to(self._state, self._allowed)
            self._before = self._search.visits
            self._fields = self._more()
            self._begin = begin
        most_s = self._seconds - self._report_s
        self._deadline.time_s = self._begin + min(self._next, most_s)
        self._search.go_on(self._simulations, self._deadline)
        elapsed = time.perf_counter() - self._begin
        is_last = self._search.is_done(self._simulations) or elapsed >= most_s
        self._next = self._interval * (int(elapsed / self._interval) + 1)
        found = self._report()
        self._report_s = max(self._report_s, time.perf_counter() - self._begin - elapsed)
        is_settled = found.proven is not None and found.simulations >= _SETTLED_AFTER
        self.is_over = is_last or is_settled or self._deadline.is_stopped
        return found

    def _report(self) -> Suggestion:
        assert self._begin is not None, "it has begun"
        found = self._search.suggestion()
        elapsed = time.perf_counter() - self._begin
        rate = (found.simulations - self._before) / elapsed
        return replace(found, elapsed_s=elapsed, simulations_per_s=rate, **self._fields)

    def stop(self) -> None:
        self._deadline.stop()

    def close(self) -> None:
        self.stop()
        self.is_over = True


def bounds_of(
    state: State,
    interval: float,
    simulations: int | None,
    seconds: float | None,
    allow: Sequence[int | str],
    avoid: Sequence[int | str],
) -> Bounds:
    """Returns the bounds of an analysis; raises BadInput if a number or a move is wrong, or no move is left."""
    if not _SHORTEST_INTERVAL_S <= interval < float("inf"):
        raise BadInput(f"interval = {interval} should be a number of seconds, {_SHORTEST_INTERVAL_S} or more")
    if simulations is not None and not 1 <= simulations <= UNLIMITED:
        raise BadInput(f"simulations = {simulations} should be from 1 to {UNLIMITED}")
    if seconds is not None and not 0 < seconds < float("inf"):
        raise BadInput(f"seconds = {seconds} should be a number greater than 0")
    legal = state.legal_actions()
    allowed = _actions_of(state, allow) if allow else set(legal)
    allowed -= _actions_of(state, avoid)
    if not allowed:
        raise BadInput("no move is left: every legal move is in avoid, or not in allow")
    limit = frozenset(allowed) if len(allowed) < len(legal) else None
    return Bounds(simulations, seconds, limit)


def _actions_of(state: State, moves: Sequence[int | str]) -> set[int]:
    """Returns the actions of moves, given as actions or in the game's notation; raises BadInput if one is not legal."""
    actions = set()
    for move in [moves] if isinstance(moves, str | int) else moves:
        action = state.game.text_to_action(state, move) if isinstance(move, str) else int(move)
        if action not in state.legal_actions():
            raise BadInput(f"action {action} is not legal here")
        actions.add(action)
    return actions


_PONDERING_INTERVAL_S = 10.0  # of reports, which nobody reads


class Ponderer:
    """Thinks on the opponent's time: an agent searches a position in a thread until `stop`, for its next move.

    An agent that cannot interrupt its search does nothing meanwhile.
    """

    def __init__(self, agent: "Agent", state: State):
        self._analysis = None
        if agent.can_ponder and not state.is_terminal():
            self._analysis = agent.analyse(state, interval=_PONDERING_INTERVAL_S)
            self._thread = threading.Thread(target=lambda: list(self._analysis or ()), daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the search. Returns within about 50 ms."""
        if self._analysis is not None:
            self._analysis.close()
            self._thread.join()
