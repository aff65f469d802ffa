"""A review as a stream: slices of its searches and of its solver's work, which take turns with all others."""

import threading
import time
from collections import deque
from collections.abc import Callable

from azero.arena.reviews.review import GameReview, MoveReview, Reviewer
from azero.interfaces.web.errors import as_api_error
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.analysing import SEARCHING
from azero.interfaces.web.searches.loaded import Loaded
from azero.interfaces.web.searches.outbox import Outbox
from azero.interfaces.web.searches.suggesting import Wish
from azero.interfaces.web.searches.turns import Turn
from azero.records import Record
from azero.system.threads import SLICE_S, Slices


class ReviewTurn(Turn):
    """Reviews a game, one slice at a time. The outbox gets each move's review, also when it changes, then the whole."""

    def __init__(
        self,
        client: str,
        loaded: Loaded,
        position: Position,
        wish: Wish,
        outbox: Outbox,
        on_end: Callable[[], None],
    ):
        super().__init__(client)
        self._loaded, self._position, self._wish = loaded, position, wish
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
        position, wish = self._position, self._wish
        agent = self._loaded.made.result().apart()
        agent.seed = wish.seed
        actions = position.state.history()[len(position.start.history()) :]
        record = Record.of_game(position.start, actions)
        return Reviewer(agent, wish.simulations, wish.seconds).reviewing(record, self._tell)

    def _tell(self, ply: int, move: MoveReview, is_new: bool) -> None:
        self._outbox.put("update", {"ply": ply, **vars(move)})


class ReviewLine:
    """Begins reviews, a limited number at the same time, since each has a table of the solver. Others stand in line."""

    def __init__(self, most: int):
        self._most, self._num_begun = most, 0
        self._line: deque[Callable[[], object]] = deque()
        self._lock = threading.Lock()

    def enter(self, begin: Callable[[], object]) -> None:
        """Calls `begin` as soon as there is room. Whoever began calls `leave` at the end."""
        with self._lock:
            self._line.append(begin)
        self._call_next()

    def leave(self) -> None:
        """Says that a review has ended."""
        with self._lock:
            self._num_begun -= 1
        self._call_next()

    def give_up(self, begin: Callable[[], object]) -> bool:
        """Returns whether a review stood in line, in which it no longer does."""
        with self._lock:
            if begin not in self._line:
                return False
            self._line.remove(begin)
            return True

    def _call_next(self) -> None:
        with self._lock:
            if not self._line or self._num_begun >= self._most:
                return
            self._num_begun += 1
            begin = self._line.popleft()
        begin()
