"""A lesson's job in the queue of searches: simulations one by one, in slices."""

import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from azero.games import without_compiling
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.loaded import Loaded
from azero.interfaces.web.searches.queue import Job
from azero.mcts.reference.shown import ShownSearch, recording_of
from azero.system.threads import SLICE_S

_MOST_TERMS = 60_000
"""Children in one answer, some 100 bytes each."""


@dataclass(frozen=True)
class SimulationsRequest:
    """Which simulations are wanted.

    Attributes:
      first: the number of the first one, from 1.
      count: how many.
      c: the exploration constant; None: the agent's own.
      seed: of all random choices.
      most_s: seconds after which the answer ends.
    """

    first: int
    count: int
    c: float | None
    seed: int
    most_s: float


class SimulationsJob(Job):
    """Shows simulations of a position. `answer` is what the interface gives, or the error.

    Args:
      loaded: the agent of PUCT; None: UCT.
    """

    def __init__(self, client: str, loaded: Loaded | None, position: Position, wanted: SimulationsRequest):
        super().__init__(client)
        self._loaded, self._position, self._wanted = loaded, position, wanted
        self._search: ShownSearch | None = None
        self._simulations: list[dict[str, Any]] = []
        self._spent_s = 0.0
        self.answer: Future[dict[str, Any]] = Future()

    def take(self) -> bool:
        if self._search is None and not self.answer.set_running_or_notify_cancel():
            return False
        begin = time.perf_counter()
        try:
            with without_compiling(self._position.state.game.rules):
                ended = self._go_on(begin)
            self._spent_s += time.perf_counter() - begin
            if ended is None and not self.is_stopped:
                return True
            self.answer.set_result(self._to_json(ended or "limit"))
        except BaseException as error:  # the one who waits gets it
            self.answer.set_exception(error)
        return False

    def _go_on(self, begin: float) -> str | None:
        """Runs simulations for a slice; returns why they have ended: count, proven or limit."""
        search = self._search = self._search or self._new_search()
        last = self._wanted.first + self._wanted.count - 1
        while time.perf_counter() - begin < SLICE_S:
            number = search.recording.root.N + 1
            if number > last:
                return "count"
            if self._spent_s > self._wanted.most_s or search.num_terms > _MOST_TERMS:
                return "limit"
            if number < self._wanted.first:
                if not search.skip():
                    return "proven"
                continue
            done = search.next()
            if done is None:
                return "proven"
            self._simulations.append(done)
        return None

    def _new_search(self) -> ShownSearch:
        search = None if self._loaded is None else self._loaded.made.result().new_search()
        return ShownSearch(recording_of(self._position.state.clone(), search, self._wanted.c, self._wanted.seed))

    def _to_json(self, ended: str) -> dict[str, Any]:
        assert self._search is not None
        root = self._search.recording.root
        return {
            "game": self._position.game.id,
            "moves": self._position.moves,
            "to_move": self._position.state.current_player(),
            "rule": self._search.rule,
            "seed": self._wanted.seed,
            "first": self._wanted.first,
            "num_simulations": root.N,
            "ended": ended,
            "simulations": self._simulations,
        }
