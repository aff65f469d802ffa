"""Worker processes, supervised: a worker that dies is started again, and its task is done again.

A task is plain data, and so is its result. A result does not depend on the worker that computes it. What all tasks of
a call have in common, such as a net's weights, is sent to each worker only once.
"""

import contextlib
import math
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any

from azero.errors import BadInput
from azero.system.carried import CarriedError
from azero.system.console import say
from azero.system.interrupt import follow_parent, interruption_waits

Work = Callable[[Any, Any, Callable[[int], None]], Any]
"""A module's function, `work(shared, task, on_progress)`, that turns a task into a result.

`shared` is what all tasks of a call have in common. Numbers given to `on_progress` tell how far the task is.
"""

Connection = Any
"""One end of a pipe. Its class differs by system."""

_POLL_S = 0.1
MOST_DEATHS = 3
"""If so many workers have died at one task, the task is given up."""

QUIET_S = 600.0
"""A worker that is quiet for so long is named to the user. It is not ended, since it may only be slow."""


class WorkersDied(BadInput):
    """Several workers have died at one task."""


class Workers:
    """Worker processes that live as long as the `with` block.

    Args:
      prepare: a module's function that each worker calls first, with its place in the pool.
      tell: is called with a sentence each time a worker has died, or has been quiet for long.

    Attributes:
      num_deaths: number of workers that have died so far.
    """

    def __init__(
        self,
        num_workers: int,
        prepare: Callable[[int], None] | None = None,
        tell: Callable[[str], None] = lambda text: None,
    ):
        self.num_deaths = 0
        self._tell = tell
        self._workers = [_Worker(prepare, place) for place in range(num_workers)]

    def __enter__(self) -> "Workers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.end()

    def run(
        self,
        work: Work,
        tasks: Sequence[Any],
        on_progress: Callable[[int], None] = lambda num: None,
        shared: Any = None,
    ) -> Generator[tuple[int, Any]]:
        """Does all tasks; yields the place of each and its result as they finish.

        `on_progress` is called with the numbers that `work` reports. If a worker dies, the sum of its task's numbers
        is taken back by a negative one. Each worker receives `shared` once.

        Raises:
          WorkersDied: several workers have died at one task.
          Exception: what `work` has raised.
        """
        call = _Call(work, shared)
        waiting, deaths = deque(enumerate(tasks)), Counter[int]()
        busy: dict[Connection, tuple[_Worker, int]] = {}
        for worker in self._workers[: len(tasks)]:
            worker.start()  # all at the same time; to send a task waits until its worker has started
        try:
            with interruption_waits() as interrupted:  # an interrupt at once could cut a message in half
                while waiting or busy:
                    idle = [worker for worker in self._workers if worker.connection not in busy]
                    for worker, (place, task) in zip(idle, list(waiting), strict=False):
                        waiting.popleft()
                        busy[worker.begin(call, task)] = worker, place
                    ready = wait(list(busy), timeout=_POLL_S)
                    self._name_quiet(worker for worker, _ in busy.values() if worker.connection not in ready)
                    for connection in ready:
                        worker, place = busy[connection]
                        kind, value = worker.hear()
                        if kind == "progress":
                            on_progress(value)
                            continue
                        if kind == "error":
                            raise value.error()
                        del busy[connection]
                        if kind == "result":
                            yield place, value
                            continue
                        on_progress(-worker.reported)
                        deaths[place] += 1
                        self._note_death(value, deaths[place])
                        waiting.appendleft((place, tasks[place]))
                    if interrupted():
                        raise KeyboardInterrupt
        finally:
            for worker, _ in busy.values():  # one has failed, or their results are no longer needed
                worker.end()

    def _name_quiet(self, workers: Iterable["_Worker"]) -> None:
        """Names those of the workers that have been quiet for long, once in each task."""
        for worker in workers:
            if time.monotonic() - worker.heard > QUIET_S:
                worker.heard = math.inf
                self._tell(
                    f"a worker process has reported nothing for {QUIET_S / 60:.0f} minutes; if it hangs, end it with "
                    f"kill -9 {worker.pid}, and another one does its task again"
                )

    def _note_death(self, exit_code: int, num_deaths: int) -> None:
        """Counts and reports a death; raises WorkersDied if it was the last of several at one task."""
        self.num_deaths += 1
        how = f"was killed by {signal.Signals(-exit_code).name}" if exit_code < 0 else f"ended with code {exit_code}"
        if num_deaths == MOST_DEATHS:
            raise WorkersDied(
                f"{num_deaths} worker processes have died at the same task, the last one {how}; perhaps the machine is "
                "short of memory"
            )
        self._tell(f"a worker process {how}; another one does its task again")


@dataclass(frozen=True, eq=False)
class _Call:
    """What all tasks of a call of `run` have in common."""

    work: Work
    shared: Any


class _Worker:
    """The supervisor's side of a worker."""

    def __init__(self, prepare: Callable[[int], None] | None, place: int):
        self._prepare, self._place = prepare, place
        self._process: multiprocessing.process.BaseProcess | None = None
        self.pid: int | None = None  # of the process that was started last
        self.connection: Connection | None = None
        self._call: _Call | None = None  # the one that the process has received last
        self.reported = 0  # progress of the current task
        self.heard = 0.0  # when the last message came or the task began, in seconds of `time.monotonic`

    def start(self) -> None:
        """Starts the process if there is none."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self.connection, other = context.Pipe()
            self._process = context.Process(target=_serve, args=(other,), daemon=True)
            with safe_path():
                self._process.start()
            self.pid = self._process.pid
            other.close()  # so that the pipe ends when the process does
            with contextlib.suppress(OSError):  # it has died; `hear` will say so
                self.connection.send((self._prepare, self._place))

    def begin(self, call: _Call, task: Any) -> Connection:
        """Sends a task to the process; returns the connection on which its messages arrive."""
        self.start()
        assert self.connection is not None
        self.reported, self.heard = 0, time.monotonic()
        is_new, self._call = call is not self._call, call
        with contextlib.suppress(OSError):  # it has died; `hear` will say so
            self.connection.send((call if is_new else None, task))
        return self.connection

    def hear(self) -> tuple[str, Any]:
        """Returns the process's next message, or ("death", exit code)."""
        assert self.connection is not None and self._process is not None
        try:
            kind, value = self.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):  # it may have died in the middle of a message
            process = self._process
            self.end()
            return "death", process.exitcode
        self.heard = time.monotonic()
        if kind == "progress":
            self.reported += value
        return kind, value

    def end(self) -> None:
        """Ends the process, if there is one."""
        if self.connection is not None and self._process is not None:
            self._process.kill()
            self._process.join()
            self.connection.close()
        self.connection = self._process = self._call = None


_PATH = threading.Lock()  # threads may start processes at the same time


@contextmanager
def safe_path() -> Iterator[None]:
    """Within the block, a new process does not import modules from the working folder, as `python -c` would."""
    with _PATH:
        before = os.environ.get("PYTHONSAFEPATH")
        os.environ["PYTHONSAFEPATH"] = "1"
        try:
            yield
        finally:
            del os.environ["PYTHONSAFEPATH"]
            if before is not None:
                os.environ["PYTHONSAFEPATH"] = before


def _serve(connection: Connection) -> None:
    """Does tasks until one fails or the pipe ends. Runs in a worker process.

    It follows its parent before it receives `prepare` and tasks, whose modules can take long to import.
    """
    follow_parent()
    with contextlib.suppress(OSError):  # the pipe has ended
        try:
            prepare, place = connection.recv()
            if prepare is not None:
                prepare(place)
            call: _Call | None = None
            while True:
                new, task = connection.recv()
                call = new or call
                assert call is not None
                result = call.work(call.shared, task, lambda num: connection.send(("progress", num)))
                connection.send(("result", result))
        except BaseException as error:  # also sys.exit, which would count as a death
            connection.send(("error", CarriedError.of(error, "In a worker process")))


def do_in_order(work: Callable[[Any], Any], units: Sequence, num_workers: int) -> Iterator[Any]:
    """Yields `work(unit)` for each unit, in order. With one worker or one unit, it runs in this process."""
    if num_workers == 1 or len(units) < 2:
        yield from map(work, units)
        return
    with Workers(min(num_workers, len(units)), tell=say) as workers:
        yield from in_order(workers.run(do_unit, units, shared=work))


def in_order(finished: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    """Yields the results of tasks in the order of their places, in whatever order they finish."""
    early: dict[int, Any] = {}
    following = 0
    for place, result in finished:
        early[place] = result
        while following in early:
            yield early.pop(following)
            following += 1


def do_unit(work: Callable[[Any], Any], unit: Any, on_progress: Callable[[int], None]) -> Any:
    """Returns `work(unit)`, as a task whose shared part is the work."""
    return work(unit)
