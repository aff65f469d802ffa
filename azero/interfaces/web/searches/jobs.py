"""The work of clients, in slices of a queue: a suggestion, an analysis, a review."""

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace

from azero.arena.agents.analysis import Analysis
from azero.arena.agents.levels import Level
from azero.arena.agents.suggestion import Suggestion
from azero.arena.reviews.review import GameReview, MoveReview, Reviewer
from azero.games import State
from azero.games.contract import sign_of
from azero.interfaces.web.errors import as_api_error
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.loaded import Loaded
from azero.interfaces.web.searches.queue import Job
from azero.interfaces.web.searches.stream import Outbox
from azero.records import Record
from azero.system.threads import SLICE_S, Slices

_LONGEST_S = 0.1  # of a slice: whoever comes waits for its end

_PATIENCE_S = 0.05

_LEAST_COST = 0.1  # of a slice, as a part of its time

SEARCHING = {"stage": "searching", "text": "Searching", "elapsed_s": 0.0, "expected_s": None, "share": None}
"""The stage of a search that has begun."""


@dataclass(frozen=True)
class SearchRequest:
    """How to search.

    Attributes:
      simulations: the most; None: by the agent's own limit.
      seconds: the most; None: no limit.
      seed: of all random choices.
      level: at which the agent plays, by its own limits; None: it does its best.
    """

    simulations: int | None
    seconds: float | None
    seed: int = 0
    level: Level | None = None


class SuggestionJob(Job):
    """Searches a position once. `answer` is the suggestion, or the error."""

    def __init__(self, client: str, loaded: Loaded, state: State, request: SearchRequest):
        super().__init__(client)
        self._loaded, self._state, self._request = loaded, state, request
        self.answer: Future[Suggestion] = Future()

    def take(self) -> bool:
        if not self.answer.set_running_or_notify_cancel():
            return False
        try:
            self.answer.set_result(self._suggest())
        except BaseException as error:  # the one who waits gets it
            self.answer.set_exception(error)
        return False

    def _suggest(self) -> Suggestion:
        request = self._request
        if request.level is not None:
            return self._loaded.player(request.level).suggest_by(self._state, request.seed)
        agent = self._loaded.made.result()
        agent.seed = request.seed
        return agent.suggest(self._state, request.simulations, request.seconds)


@dataclass(frozen=True)
class AnalysisLimits:
    """When an analysis ends.

    Attributes:
      simulations: of the position, those of earlier analyses included.
      single: simulations of an agent that cannot be interrupted; None: its own limit.
      seconds: since its first slice.
      interval: seconds from one report to the next.
      memory_mib: of all trees of the agent. Analyses with the same agent share it equally.
    """

    simulations: int
    single: int | None
    seconds: float
    interval: float
    memory_mib: int


class AnalysisJob(Job):
    """Analyses a position, one slice at a time.

    A slice is a report of `agent.analyse`. If another analysis has used the agent since the last slice, the agent goes
    back to this position, whose tree it has kept.
    """

    def __init__(
        self,
        client: str,
        loaded: Loaded,
        position: Position,
        limits: AnalysisLimits,
        outbox: Outbox,
        on_end: Callable[[], None],
    ):
        super().__init__(client)
        self._loaded, self._position, self._limits = loaded, position, limits
        self._outbox, self._on_end = outbox, on_end
        self._analysis: Analysis | None = None
        self._begin_s: float | None = None
        self._next_s = 0.0  # when the next report is due
        self._before = 0  # simulations before this analysis
        self._draws: Future[float | None] | None = None
        self._last = 0  # simulations at the last report
        self._made = 0  # simulations of the last slice

    def stop(self) -> None:
        """Ends it, also within a slice."""
        super().stop()
        if (analysis := self._analysis) is not None and self._loaded.holder is self:
            analysis.stop()

    def cost(self, elapsed_s: float) -> float:
        """Returns the usual time of its simulations: those with the same agent get equally many, and not equal time.

        A large tree is searched in larger batches. By time alone, whoever is ahead would get ahead further.
        """
        rate = self._loaded.rate
        rate.add(self._made, elapsed_s)
        return max(self._made * rate.seconds_per_simulation, _LEAST_COST * elapsed_s)

    def take(self) -> bool:
        try:
            if self.is_stopped or self._outbox.is_over:
                return self._end("stopped")
            reason = self._slice()
            return True if reason is None else self._end(reason)
        except BaseException as error:  # the stream gets it
            self._outbox.put("error", as_api_error(error).to_json(), is_last=True)
            self._on_end()
            return False

    def _end(self, reason: str) -> bool:
        self._outbox.put("done", {"reason": reason}, is_last=True)
        self._on_end()
        return False

    def _slice(self) -> str | None:
        """Searches for a while; returns why the analysis is over, None if it is not."""
        if self._loaded.holder is not self:
            self._resume()
        assert self._analysis is not None, "it was resumed"
        if self.is_stopped:
            self._analysis.stop()
        begin = time.perf_counter()
        if self._begin_s is None:
            self._begin_s = begin
            self._outbox.put("stage", SEARCHING)
        found = next(self._analysis)
        now = time.perf_counter()
        elapsed = now - self._begin_s
        if found.simulations_per_s is not None and not self._before:
            self._before = max(1, found.simulations - round(found.simulations_per_s * found.elapsed_s))
        earlier = max(self._last, self._before)  # the visits of a kept tree cost nothing
        self._made, self._last = max(0, found.simulations - earlier), found.simulations
        reason = self._reason(found, elapsed, self._analysis.is_over)
        if reason is not None or now >= self._next_s:
            self._next_s = now + self._limits.interval - min(0.05, self._limits.interval / 4)
            self._report(found, elapsed, is_last=reason is not None)
        return reason

    def _resume(self) -> None:
        """Goes to the position: to its kept tree, or to the part of the tree of a position before it."""
        agent, limits = self._loaded.made.result(), self._limits
        state = self._position.state
        search = agent.position_search(limits.memory_mib)
        if search is not None and self._begin_s is None:
            with search.lock:
                before = [] if search.remembers(state) else self._position.earlier
                for each in reversed(before):
                    if search.remembers(each):
                        search.go_to(each)
                        break
        limit = limits.simulations if agent.can_ponder else limits.single
        interval = min(limits.interval, _LONGEST_S)
        self._analysis = agent.analyse(state, interval=interval, simulations=limit, memory_mib=limits.memory_mib)
        self._loaded.holder = self

    def _reason(self, found: Suggestion, elapsed: float, is_over: bool) -> str | None:
        if self.is_stopped:
            return "stopped"
        if found.simulations >= self._limits.simulations:
            return "simulations"
        if elapsed >= self._limits.seconds:
            return "seconds"
        if found.is_tree_full or self._is_too_large():
            return "memory"
        if is_over:
            return "proven" if found.proven else "simulations"
        return None

    def _is_too_large(self) -> bool:
        """Returns whether its tree has more than its share of the agent's memory, so that it would not be kept."""
        if self._loaded.users < 2:
            return False
        search = self._loaded.made.result().position_search(self._limits.memory_mib)
        kept = self._limits.memory_mib * (1 << 20) // 2
        return search is not None and search.num_bytes > kept // self._loaded.users

    def _report(self, found: Suggestion, elapsed: float, is_last: bool) -> None:
        made = found.simulations - self._before if self._before else found.simulations
        rate = round(made / elapsed, 1) if elapsed > 0 else None
        update = replace(found, elapsed_s=round(elapsed, 3), simulations_per_s=rate).to_json()
        self._outbox.put("update", {**update, "outcomes": self._outcomes(found, is_last), "is_last": is_last})

    def _outcomes(self, found: Suggestion, is_last: bool) -> list[float] | None:
        """Returns the shares of outcomes; None as long as the net's share of draws is not known.

        The first time this takes a second or two. Only the last report waits for it, and not long.
        """
        if self._draws is None:
            self._draws = self._loaded.draws(self._position.state)
        with contextlib.suppress(TimeoutError, CancelledError):  # cancelled: the server ends
            draws = self._draws.result(_PATIENCE_S if is_last else 0)
            return None if draws is None else outcomes_of(draws, found.value * sign_of(found.to_move))
        return None


def outcomes_of(draws: float, value: float) -> list[float]:
    """Returns the shares of wins of the first player, draws, and wins of the second.

    With v the value and d the share of draws, at most 1 - |v|:

        wins = (1 - d + v) / 2,    losses = (1 - d - v) / 2

    Args:
      draws: in [0, 1].
      value: in [-1, 1], of the search, for the first player.
    """
    d = min(draws, 1 - abs(value))
    return [round(each, 4) + 0.0 for each in ((1 - d + value) / 2, d, (1 - d - value) / 2)]


class ReviewJob(Job):
    """Reviews a game, one slice at a time. The outbox gets each move's review, also when it changes, then the whole."""

    def __init__(
        self,
        client: str,
        loaded: Loaded,
        position: Position,
        request: SearchRequest,
        outbox: Outbox,
        on_end: Callable[[], None],
    ):
        super().__init__(client)
        self._loaded, self._position, self._request = loaded, position, request
        self._outbox, self._on_end = outbox, on_end
        self._work: Slices[GameReview] | None = None

    def take(self) -> bool:
        try:
            if not (self.is_stopped or self._outbox.is_over):
                self._slice()
                return True
        except StopIteration as end:
            review: GameReview = end.value
            self._outbox.put("done", {**review.to_json(), "values": review.values}, is_last=True)
        except BaseException as error:  # the stream gets it
            self._outbox.put("error", as_api_error(error).to_json(), is_last=True)
        self._work = None  # a table of the solver
        self._on_end()
        return False

    def _slice(self) -> None:
        """Goes on for a while; raises StopIteration, with the review, at its end."""
        end_s = time.perf_counter() + SLICE_S
        if self._work is None:
            self._outbox.put("stage", SEARCHING)
            self._work = self._begin()
        while time.perf_counter() < end_s and not self.is_stopped:
            next(self._work)

    def _begin(self) -> Slices[GameReview]:
        position, request = self._position, self._request
        agent = self._loaded.made.result().apart()
        agent.seed = request.seed
        actions = position.state.history()[len(position.start.history()) :]
        record = Record.of_game(position.start, actions)
        return Reviewer(agent, request.simulations, request.seconds).reviewing(record, self._tell)

    def _tell(self, ply: int, move: MoveReview, is_new: bool) -> None:
        self._outbox.put("update", {"ply": ply, **vars(move)})
