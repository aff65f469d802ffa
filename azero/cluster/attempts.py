"""The attempts at the tasks of a call: which are under way, which have to be made again, and what they have brought.

A task may be attempted several times, because a worker dies or is late. The first whole answer counts. All are equal,
unless the cluster is mixed.
"""

import statistics
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence

from azero.cluster.backend import Backend, Death, Event
from azero.cluster.ledger import Attempt, Ledger
from azero.cluster.messages import Answer, Begun, Refused, check
from azero.errors import BadInput, Damaged
from azero.system.workers import MOST_DEATHS, WorkersDied

MOST_AHEAD = 1000
"""Attempts that wait in the cluster's queue, beside those that run."""

_MOST_LOST = 20
"""If so many attempts at one task have ended with their nodes, the task is given up."""

_LATE, _LATE_S = 1.5, 5.0
"""An attempt is late if it takes more than _LATE times the median, and _LATE_S more, while nothing else waits.

The process of an attempt that is ended has to be replaced, which takes some seconds.
"""

_LOOK_S = 0.1
"""How often late attempts are looked for. A look goes through all attempts, which may be many thousands."""


class Attempts:
    """The attempts at the tasks of one call.

    Args:
      name: the call's.
      shared: the backend's handle of what the tasks have in common.
      tasks: pickled.
      titles: what the tasks are called, for people.
      ledger: counts what happens.
      tell: is called with a line when something is done again.
      deadline_s: how many seconds after its beginning an attempt is given up.
    """

    def __init__(
        self,
        backend: Backend,
        name: str,
        shared: object,
        tasks: Sequence[bytes],
        titles: Sequence[str],
        ledger: Ledger,
        tell: Callable[[str], None],
        deadline_s: float,
    ):
        self._backend, self._name, self._shared = backend, name, shared
        self._tasks, self._titles, self._ledger, self._tell = tasks, titles, ledger, tell
        self._deadline_s = deadline_s
        self._waiting = deque(range(len(tasks)))
        self._open: dict[Hashable, Attempt] = {}
        self._open_at: defaultdict[int, set[Hashable]] = defaultdict(set)  # by place
        self._looked = -_LOOK_S
        self._left = set(range(len(tasks)))
        self._deaths, self._lost, self._overdue, self._made = (Counter[int]() for _ in range(4))
        self._times: list[float] = []

    @property
    def is_over(self) -> bool:
        """Whether all tasks have been answered."""
        return not self._left

    def begin(self, num_slots: int) -> None:
        """Begins as many of the waiting tasks as the cluster's queue should hold."""
        while self._waiting and len(self._open) < num_slots + MOST_AHEAD:
            place = self._waiting.popleft()
            if place in self._left:
                self._submit(place, self._ledger.refused)

    def receive(self, timeout_s: float) -> Iterator[Answer]:
        """Yields the answers that count; raises WorkersDied if a task is given up."""
        for attempt, what in self._backend.wait(list(self._open), timeout_s):
            if attempt in self._open:
                answer = self._note(Event(attempt, what))
                if answer is not None:
                    yield answer

    def repeat_late_ones(self, slots: dict[str, int]) -> None:
        """Attempts tasks again whose attempts are beyond the deadline, or late while workers of other nodes idle.

        Raises BadInput if several attempts at a task were beyond the deadline.
        """
        now = time.monotonic()
        if now - self._looked < _LOOK_S:
            return
        self._looked = now
        for handle, attempt in list(self._open.items()):
            if attempt.begun is not None and now - attempt.begun > self._deadline_s:
                self._give_up(handle)
                self._note_overdue(attempt.place)
                self._put_back(attempt.place)
        if not self._waiting and self._times:
            self._copy_late_ones(now, slots)

    def _copy_late_ones(self, now: float, slots: dict[str, int]) -> None:
        running = self._ledger.running()
        idle = {node: max(0, num - running[node]) for node, num in slots.items()}
        num_idle = sum(idle.values()) - running[""]  # those that have not begun will take some
        latest = _LATE * statistics.median(self._times) + _LATE_S
        begun = [each for each in self._open.values() if each.begun is not None and now - each.begun > latest]
        for attempt in sorted(begun, key=lambda each: each.begun or now):
            if num_idle > idle.get(attempt.node, 0) and len(self._open_at[attempt.place]) == 1:
                self._submit(attempt.place, {attempt.node, *self._ledger.refused})
                num_idle -= 1

    def end(self) -> None:
        """Ends all attempts that are under way."""
        for handle in list(self._open):
            self._give_up(handle)

    def _submit(self, place: int, avoided: Collection[str]) -> None:
        title, task = self._titles[place], self._tasks[place]
        self._ledger.add(again=self._made[place] > 0, bytes_out=len(task))
        self._made[place] += 1
        attempt = Attempt(place, time.monotonic())
        handle = self._backend.submit(self._shared, place, task, title, [*avoided])
        self._open[handle] = attempt
        self._open_at[place].add(handle)
        with self._ledger.lock:
            self._ledger.attempts[handle] = attempt

    def _close(self, handle: Hashable) -> None:
        attempt = self._open.pop(handle)
        self._open_at[attempt.place].remove(handle)
        if attempt.begun is not None:
            self._ledger.add(busy_s=time.monotonic() - attempt.begun)
        with self._ledger.lock:
            del self._ledger.attempts[handle]

    def _give_up(self, handle: Hashable) -> None:
        self._close(handle)
        self._backend.cancel(handle)

    def _note(self, event: Event) -> Answer | None:
        """Notes what has happened to an attempt; returns its answer if that counts."""
        attempt = self._open[event.attempt]
        what = event.what
        if isinstance(what, Begun):
            attempt.begun, attempt.node = time.monotonic(), what.node
            self._ledger.add(begun=1, queued_s=attempt.begun - attempt.made)
            return None
        self._close(event.attempt)
        if isinstance(what, Answer):
            return self._checked(attempt, what)
        if isinstance(what, Refused):
            self._note_refusal(what)
        else:
            self._note_death(attempt.place, what)
        self._put_back(attempt.place)
        return None

    def _checked(self, attempt: Attempt, answer: Answer) -> Answer | None:
        """Returns an answer if it is whole and the first to its task."""
        place = attempt.place
        try:
            check(answer, self._name, place)
        except Damaged as error:
            self._tell(f"the answer to {self._titles[place]} {error}; another worker does it again")
            self._note_death(place, Death("returned damaged answers", False), is_told=True)
            self._put_back(place)
            return None
        if place not in self._left:
            return None
        self._left.discard(place)
        if attempt.begun is not None:
            self._times.append(time.monotonic() - attempt.begun)
        self._ledger.add(bytes_in=len(answer.data))
        self._ledger.add_done(answer.node, answer.progress)
        for handle in list(self._open_at[place]):
            self._give_up(handle)
        return answer

    def _put_back(self, place: int) -> None:
        """Puts a task first in the queue, unless it is answered or under way.

        A copy that has not begun is given up, since it may wait for a node that has gone.
        """
        for handle in list(self._open_at[place]):
            if self._open[handle].begun is None:
                self._give_up(handle)
        if place in self._left and not self._open_at[place]:
            self._waiting.appendleft(place)

    def _note_refusal(self, refused: Refused) -> None:
        if refused.node not in self._ledger.refused:
            self._ledger.refused[refused.node] = refused.how
            self._tell(f"node {refused.host} is refused: it {refused.how}")

    def _note_overdue(self, place: int) -> None:
        """Reports an attempt beyond the deadline; raises BadInput if it was the last of several at one task."""
        self._overdue[place] += 1
        took = f"{self._titles[place]} has taken {self._deadline_s:g} s"
        if self._overdue[place] == MOST_DEATHS:
            raise BadInput(f"{took} on each of {MOST_DEATHS} workers; set a larger cluster.deadline_s")
        self._tell(f"{took}; another worker does it")

    def _note_death(self, place: int, death: Death, is_told: bool = False) -> None:
        """Counts and reports a death; raises WorkersDied if it was the last of several at one task."""
        self._ledger.add(deaths=1)
        deaths, most = (self._lost, _MOST_LOST) if death.is_of_node else (self._deaths, MOST_DEATHS)
        deaths[place] += 1
        if deaths[place] == most:
            raise WorkersDied(
                f"{most} workers have died at the same task, the last one {death.how}; perhaps its machine is short "
                "of memory"
            )
        if not is_told:
            self._tell(f"a worker {death.how}; another one does its task again")
