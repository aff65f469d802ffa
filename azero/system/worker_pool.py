"""Hands out tasks: to this process, or to the workers of a backend, of which one that dies is replaced.

A task is plain data, and so is its result. A result does not depend on the worker that computes it. What all tasks of
a call have in common, such as a net's weights, is sent to each worker only once.

A task may be attempted several times, because a worker dies or is late. The first whole answer counts. All are equal,
unless the cluster is mixed.
"""

import math
import pickle
import secrets
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from azero.errors import BadInput, Damaged
from azero.system.console import say
from azero.system.interrupt import interruption_waits
from azero.system.local_backend import LocalBackend, local_host
from azero.system.process_backend import Backend, Begun, Death, Event, Host, Progress, Refused
from azero.system.worker_side import Answer, Call, Work, check

_POLL_S = 0.1

_NODES_EVERY_S = 1.0
"""How often a backend is asked for its nodes."""

_MOST_DEATHS = 3
"""If so many workers have died at one task, the task is given up."""

_MOST_LOST = 20
"""If so many attempts at one task have ended with their nodes, the task is given up."""

_LATE, _LATE_S = 1.5, 5.0
"""An attempt is late if it takes more than _LATE times the median, and _LATE_S more, while nothing else waits.

The process of an attempt that is ended has to be replaced, which takes some seconds.
"""

_LOOK_S = 0.1
"""How often late attempts are looked for. A look goes through all attempts, which may be many thousands."""


class WorkersDied(BadInput):
    """Several workers have died at one task."""


class Pool:
    """Does tasks in this process, within a `with` block. `Workers` do them in other processes.

    Attributes:
      is_cluster: whether each worker has a machine's core or GPU for itself.
      is_mixed: whether each machine runs nets in its own fastest way, so that results depend on it.
      works_beside: whether it can run tasks for another thread while this process does something else.
    """

    is_cluster = is_mixed = works_beside = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Ends the workers that are this process's own."""

    def run(
        self,
        work: Work,
        tasks: Sequence[Any],
        on_progress: Callable[[int], None] = lambda num: None,
        shared: Any = None,
        title: str = "task",
    ) -> Generator[tuple[int, Any]]:
        """Does all tasks; yields the place of each and its result as they finish.

        Args:
          on_progress: is called with what the work has reported. If an attempt brings no answer, the sum of its
            numbers is taken back by a negative one.
          shared: what all tasks have in common.
          title: what the tasks are called, for people.

        Raises:
          WorkersDied: several workers have died at one task.
          BadInput: several workers were too late at one task, or all nodes so far are refused.
          Exception: what `work` has raised.
        """
        for place, task in enumerate(tasks):
            yield place, work(shared, task, on_progress)

    @property
    def num_deaths(self) -> int:
        """Number of workers that have died at tasks so far."""
        return 0

    def launch(self, num_processes: int) -> AbstractContextManager[Host]:
        """Opens a host for the ranks of a trainer; this process is one of them."""
        return local_host(num_processes)

    def figures(self) -> dict[str, float]:
        """Returns metrics of a cluster by name: as it is now, and of what has happened since the last call."""
        return {}


def _counts(**values: float) -> defaultdict[str, float]:
    return defaultdict(int, values)


class Workers(Pool):
    """The workers of a backend.

    Args:
      tell: is called with a line when a worker has died, or a node is refused.
      advice: what to do if a task is given up, for the end of a line.
      deadline_s: how many seconds after its beginning an attempt is given up.
      around: makes the context in which a worker does each task.

    Attributes:
      refused: how nodes differ that may not work for this process.
      attempts: those under way, of all calls.
    """

    works_beside = True

    def __init__(
        self,
        backend: Backend,
        tell: Callable[[str], None] = lambda text: None,
        advice: str = "",
        deadline_s: float = math.inf,
        around: Callable[[], AbstractContextManager] = nullcontext,
    ):
        self.backend, self.tell, self.deadline_s = backend, tell, deadline_s
        self.is_cluster, self.is_mixed = backend.is_cluster, backend.is_mixed
        self._advice, self._around = advice, around
        self.refused: dict[str, str] = {}
        self._lock = threading.Lock()  # several threads may have a call at the same time
        self._counts = _counts()
        self._done = Counter[str]()  # what the work has reported, by node
        self.attempts: dict[Hashable, _Attempt] = {}
        self._slots: dict[str, int] = {}
        self._asked = -_NODES_EVERY_S
        self._seen: set[str] = set()  # all nodes that have had a worker
        self._is_waiting_told = False
        self._before, self._at = (_counts(), Counter[str]()), time.monotonic()  # of the last figures

    def __exit__(self, *error: object) -> None:
        self.backend.end()

    @property
    def num_deaths(self) -> int:
        """Number of workers that have died at tasks so far."""
        return int(self._counts.get("deaths", 0))

    def run(
        self,
        work: Work,
        tasks: Sequence[Any],
        on_progress: Callable[[int], None] = lambda num: None,
        shared: Any = None,
        title: str = "task",
    ) -> Generator[tuple[int, Any]]:
        """Does all tasks; see `Pool.run`."""
        if not tasks:
            return
        begin = time.perf_counter()
        call = Call(secrets.token_hex(16), work, shared, self._around)
        packed = pickle.dumps(call, protocol=5)
        attempts = _Attempts(self, call.name, self.backend.share(call.name, packed), tasks, title, on_progress)
        self.count(bytes_out=len(packed) * max(1, len(self.usable())))
        try:
            with interruption_waits() as interrupted:  # an interrupt at once could cut a message in half
                while attempts.left:
                    slots = self.usable()
                    attempts.begin(sum(slots.values()) + self.backend.most_ahead)
                    for answer in attempts.receive(_POLL_S):
                        if answer.kind == "error":
                            raise answer.value.error()
                        yield answer.place, answer.value
                    attempts.repeat_late_ones(slots)
                    if interrupted():
                        raise KeyboardInterrupt
        except WorkersDied as error:
            raise WorkersDied("; ".join(filter(None, [str(error), self._advice]))) from None
        finally:
            attempts.end()
            self.count(spent_s=time.perf_counter() - begin)

    def launch(self, num_processes: int) -> AbstractContextManager[Host]:
        """Opens the backend as the host of a trainer's ranks; see `Pool.launch`."""
        return self.backend.launch(num_processes)

    def usable(self) -> dict[str, int]:
        """Returns the workers of each node that is not refused; raises BadInput if all nodes so far are refused."""
        if time.monotonic() - self._asked >= _NODES_EVERY_S:
            self._slots, self._asked = self.backend.slots(), time.monotonic()
            self._seen |= {node for node, num in self._slots.items() if num}
        usable = {node: num for node, num in self._slots.items() if node not in self.refused and num}
        if self._seen and self._seen <= self.refused.keys():
            how = next(iter(self.refused.values()))
            raise BadInput(f"all nodes of the cluster are refused; one of them {how}")
        if not usable and not self._is_waiting_told:
            self.tell("the cluster has no node with a CPU or GPU for a worker; waiting for one")
        self._is_waiting_told = not usable
        return usable

    def count(self, **counts: float) -> None:
        """Adds to the counts of these names."""
        with self._lock:
            for name, num in counts.items():
                self._counts[name] += num

    def count_done(self, node: str, num: int) -> None:
        """Adds to what the work has reported on a node."""
        with self._lock:
            self._done[node] += num

    def figures(self) -> dict[str, float]:
        """Returns metrics; see `Pool.figures`."""
        if not self.is_cluster:
            return {}
        with self._lock:
            now, at = (self._counts.copy(), self._done.copy()), time.monotonic()
        counts = _counts(**{name: num - self._before[0][name] for name, num in now[0].items()})
        done, passed_s = now[1] - self._before[1], max(at - self._at, 1e-9)
        self._before, self._at = now, at
        slots = self.usable()
        num_workers = sum(slots.values())
        figures: dict[str, float] = {
            "cluster/nodes": len(slots),
            "cluster/workers": num_workers,
            "cluster/tasks_again": counts["again"],
            "cluster/refused_nodes": len(self.refused),
            "cluster/received_bytes": counts["bytes_in"],
            "cluster/sent_bytes": counts["bytes_out"],
            "cluster/queue_s": counts["queued_s"] / max(1, counts["begun"]),
            "cluster/waiting_share": 1 - min(1.0, counts["busy_s"] / (max(1, num_workers) * passed_s)),
        }
        if done and counts["spent_s"]:
            figures["cluster/most_games_per_s_of_a_node"] = max(done.values()) / counts["spent_s"]
            figures["cluster/fewest_games_per_s_of_a_node"] = min(done.values()) / counts["spent_s"]
        return figures


@dataclass
class _Attempt:
    """An attempt that is under way."""

    place: int
    made: float  # in seconds, by this process's clock
    begun: float | None = None
    node: str = ""
    reported: int = 0  # the sum of what the work has reported so far


class _Attempts:
    """The attempts at the tasks of a call: which are under way, which are to be made again, and what they have brought.

    Args:
      name: the call's.
      shared: the backend's handle of what the tasks have in common.

    Attributes:
      left: the places of the tasks without an answer.
    """

    def __init__(
        self,
        pool: Workers,
        name: str,
        shared: object,
        tasks: Sequence[Any],
        title: str,
        on_progress: Callable[[int], None],
    ):
        self._pool, self._backend, self._name, self._shared = pool, pool.backend, name, shared
        self._tasks = [pickle.dumps(task, protocol=5) for task in tasks]
        self._titles = [f"{title} {place + 1}/{len(tasks)}" for place in range(len(tasks))]
        self._on_progress = on_progress
        self._waiting = deque(range(len(tasks)))
        self._open: dict[Hashable, _Attempt] = {}
        self._open_at: defaultdict[int, set[Hashable]] = defaultdict(set)  # by place
        self._looked = -_LOOK_S
        self.left = set(range(len(tasks)))
        self._deaths, self._lost, self._overdue, self._made = (Counter[int]() for _ in range(4))
        self._times: list[float] = []

    def begin(self, most: int) -> None:
        """Begins waiting tasks until `most` are under way or in the backend's queue."""
        while self._waiting and len(self._open) < most:
            place = self._waiting.popleft()
            if place in self.left:
                self._submit(place, self._pool.refused)

    def receive(self, timeout_s: float) -> Iterator[Answer]:
        """Yields the answers that count; raises WorkersDied if a task is given up."""
        for event in self._backend.wait(list(self._open), timeout_s):
            if event.attempt in self._open:
                answer = self._note(event)
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
            if attempt.begun is not None and now - attempt.begun > self._pool.deadline_s:
                self._give_up(handle)
                self._take_back(attempt)
                self._note_overdue(attempt.place)
                self._put_back(attempt.place)
        if not self._waiting and self._times:
            self._copy_late_ones(now, slots)

    def _copy_late_ones(self, now: float, slots: dict[str, int]) -> None:
        running = Counter(each.node for each in list(self._pool.attempts.values()))
        idle = {node: max(0, num - running[node]) for node, num in slots.items()}
        num_idle = sum(idle.values()) - running[""]  # those that have not begun will take some
        latest = _LATE * np.median(self._times) + _LATE_S
        begun = [each for each in self._open.values() if each.begun is not None and now - each.begun > latest]
        for attempt in sorted(begun, key=lambda each: each.begun or now):
            if num_idle > idle.get(attempt.node, 0) and len(self._open_at[attempt.place]) == 1:
                self._submit(attempt.place, {attempt.node, *self._pool.refused})
                num_idle -= 1

    def end(self) -> None:
        """Ends all attempts that are under way."""
        for handle in list(self._open):
            self._give_up(handle)

    def _submit(self, place: int, avoided: Collection[str]) -> None:
        task = self._tasks[place]
        self._pool.count(again=self._made[place] > 0, bytes_out=len(task))
        self._made[place] += 1
        handle = self._backend.submit(self._shared, place, task, self._titles[place], [*avoided])
        self._open[handle] = self._pool.attempts[handle] = _Attempt(place, time.monotonic())
        self._open_at[place].add(handle)

    def _close(self, handle: Hashable) -> None:
        attempt = self._open.pop(handle)
        del self._pool.attempts[handle]
        self._open_at[attempt.place].remove(handle)
        if attempt.begun is not None:
            self._pool.count(busy_s=time.monotonic() - attempt.begun)

    def _give_up(self, handle: Hashable) -> None:
        self._close(handle)
        self._backend.cancel(handle)

    def _take_back(self, attempt: _Attempt) -> None:
        """Takes back what an attempt has reported that brings no answer."""
        if attempt.reported:
            self._on_progress(-attempt.reported)

    def _note(self, event: Event) -> Answer | None:
        """Notes what has happened to an attempt; returns its answer if that counts."""
        attempt, what = self._open[event.attempt], event.what
        if isinstance(what, Progress):
            attempt.reported += what.num
            self._on_progress(what.num)
            return None
        if isinstance(what, Begun):
            attempt.begun, attempt.node = time.monotonic(), what.node
            self._pool.count(begun=1, queued_s=attempt.begun - attempt.made)
            return None
        self._close(event.attempt)
        if isinstance(what, Answer):
            return self._checked(attempt, what)
        if isinstance(what, Refused):
            self._note_refusal(what)
        else:
            self._note_death(attempt, what)
        self._put_back(attempt.place)
        return None

    def _checked(self, attempt: _Attempt, answer: Answer) -> Answer | None:
        """Returns an answer if it is whole and the first to its task."""
        place = attempt.place
        try:
            check(answer, self._name, place)
        except Damaged as error:
            self._pool.tell(f"the answer to {self._titles[place]} {error}; another worker does it again")
            self._note_death(attempt, Death("returned damaged answers", False), is_told=True)
            self._put_back(place)
            return None
        if place not in self.left:
            return None
        self.left.discard(place)
        if attempt.begun is not None:
            self._times.append(time.monotonic() - attempt.begun)
        self._pool.count(bytes_in=len(answer.data))
        self._pool.count_done(answer.node, answer.progress)
        if answer.progress != attempt.reported:  # what has not been reported on the way
            self._on_progress(answer.progress - attempt.reported)
        for handle in list(self._open_at[place]):
            self._take_back(self._open[handle])
            self._give_up(handle)
        return answer

    def _put_back(self, place: int) -> None:
        """Puts a task first in the queue, unless it is answered or under way.

        A copy that has not begun is given up, since it may wait for a node that has gone.
        """
        for handle in list(self._open_at[place]):
            if self._open[handle].begun is None:
                self._give_up(handle)
        if place in self.left and not self._open_at[place]:
            self._waiting.appendleft(place)

    def _note_refusal(self, refused: Refused) -> None:
        if refused.node not in self._pool.refused:
            self._pool.refused[refused.node] = refused.how
            self._pool.tell(f"node {refused.host} is refused: it {refused.how}")

    def _note_overdue(self, place: int) -> None:
        """Reports an attempt beyond the deadline; raises BadInput if it was the last of several at one task."""
        self._overdue[place] += 1
        took = f"{self._titles[place]} has taken {self._pool.deadline_s:g} s"
        if self._overdue[place] == _MOST_DEATHS:
            raise BadInput(f"{took} on each of {_MOST_DEATHS} workers; set a larger cluster.deadline_s")
        self._pool.tell(f"{took}; another worker does it")

    def _note_death(self, attempt: _Attempt, death: Death, is_told: bool = False) -> None:
        """Counts and reports a death; raises WorkersDied if it was the last of several at one task."""
        self._pool.count(deaths=1)
        self._take_back(attempt)
        deaths, most = (self._lost, _MOST_LOST) if death.is_of_node else (self._deaths, _MOST_DEATHS)
        deaths[attempt.place] += 1
        if deaths[attempt.place] == most:
            raise WorkersDied(
                f"{most} workers have died at the same task, the last one {death.how}; perhaps its machine is short "
                "of memory"
            )
        if not is_told:
            self._pool.tell(f"a worker {death.how}; another one does its task again")


def local_workers(
    num_workers: int,
    prepare: Callable[[int], None] | None = None,
    tell: Callable[[str], None] = lambda text: None,
    advice: str = "",
    around: Callable[[], AbstractContextManager] = nullcontext,
) -> Workers:
    """Returns worker processes of this machine; see `LocalBackend` and `Workers`."""
    return Workers(LocalBackend(num_workers, prepare, tell), tell, advice, around=around)


def do_in_order(
    work: Callable[[Any], Any],
    units: Sequence,
    num_workers: int,
    title: str = "task",
    pool: Pool | None = None,
) -> Iterator[Any]:
    """Yields `work(unit)` for each unit, in order.

    Args:
      num_workers: worker processes. With one, or one unit, it runs in this process.
      pool: does the work instead.
    """
    if pool is None and num_workers > 1 and len(units) > 1:
        with local_workers(min(num_workers, len(units)), tell=say) as workers:
            yield from do_in_order(work, units, num_workers, title, workers)
        return
    with closing((pool or Pool()).run(_do_unit, units, shared=work, title=title)) as finished:
        yield from _in_order(finished)


def _in_order(finished: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    """Yields the results of tasks in the order of their places, in whatever order they finish."""
    early: dict[int, Any] = {}
    following = 0
    for place, result in finished:
        early[place] = result
        while following in early:
            yield early.pop(following)
            following += 1


def _do_unit(work: Callable[[Any], Any], unit: Any, on_progress: Callable[[int], None]) -> Any:
    """Returns `work(unit)`, as a task whose shared part is the work."""
    return work(unit)
