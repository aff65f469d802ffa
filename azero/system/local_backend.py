"""Starts and ends processes of this machine: workers that do tasks, and ranks whose methods are called from here."""

import contextlib
import math
import multiprocessing
import multiprocessing.process
import os
import pickle
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from azero.system.interrupt import interruption_blocked
from azero.system.process_backend import Begun, Death, Event, Host, Peer, PeerDied, Progress
from azero.system.worker_side import CarriedError, do_task

_HERE = "here"
"""The name of this machine as a node."""

_POLL_S = 0.1
_EXIT_S = 5.0  # how long a process takes at most to exit when its pipe has ended

QUIET_S = 600.0
"""A worker that is quiet for so long is named to the user. It is not ended, since it may only be slow."""

# --- a process ---

Connection = Any
"""One end of a pipe. Its class differs by system."""


class Process:
    """A process of this machine, and the pipe to it. It ends when this process ends.

    Args:
      serve: a function of this module that the process runs with its end of the pipe.
      first: the first message to it. It is sent apart, since its modules can take long to import.
    """

    def __init__(self, serve: Callable[[Connection], None], first: object):
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self._process: multiprocessing.process.BaseProcess = context.Process(
            target=_run, args=(serve, other), daemon=True
        )
        with _safe_path(), interruption_blocked():
            self._process.start()
        self.pid = self._process.pid
        other.close()  # so that the pipe ends when the process does
        self.send(first)

    def send(self, message: object) -> None:
        """Sends a message. If the process has ended, `receive` will say so."""
        with contextlib.suppress(OSError):
            self.connection.send(message)

    def receive(self) -> tuple[str, Any]:
        """Returns the next message, ("error", a `CarriedError`), or ("death", how it has ended); waits for it."""
        try:
            return self.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError):  # it may have died in the middle of a message
            self._process.join(_EXIT_S)
            self.end()
            code = self._process.exitcode or 0
            return "death", f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.join()
        self.connection.close()


_PATH = threading.Lock()  # threads may start processes at the same time


@contextmanager
def _safe_path() -> Iterator[None]:
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


def _run(serve: Callable[[Connection], None], connection: Connection) -> None:
    """Serves until something fails or the pipe ends. Runs in the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it is not blocked, the parent handles it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(OSError):  # the pipe has ended
        try:
            serve(connection)
        except BaseException as error:  # also sys.exit
            connection.send(("error", CarriedError.of(error, "In another process")))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


# --- tasks ---


class _Worker:
    """A place for a worker, with a process or without.

    Attributes:
      attempt: what it does; None: nothing.
      call: name of the call whose tasks the process has done last.
      heard: when the last message came or the task began, in seconds of `time.monotonic`.
    """

    process: Process | None = None
    attempt: int | None = None
    call = ""
    heard = 0.0

    def end(self) -> None:
        """Ends the process, if there is one."""
        if self.process is not None:
            self.process.end()
        self.process, self.attempt, self.call = None, None, ""


class LocalBackend:
    """Worker processes. One call may be under way at a time.

    Args:
      prepare: a module's function that each worker calls first, with its place among the workers.
      tell: is called with a sentence each time a worker has been quiet for long.
    """

    is_cluster = is_mixed = False
    most_ahead = 0

    def __init__(self, num_workers: int, prepare: Callable[[int], None] | None, tell: Callable[[str], None]):
        self._prepare, self._tell = prepare, tell
        self._workers = [_Worker() for _ in range(num_workers)]
        self._waiting: dict[int, tuple[tuple[str, bytes], int, bytes]] = {}  # attempts that no worker has yet
        self._num_attempts = 0

    def slots(self) -> dict[str, int]:
        """Returns the number of workers."""
        return {_HERE: len(self._workers)}

    def share(self, name: str, packed: bytes) -> tuple[str, bytes]:
        """Returns the call. Each worker receives it once."""
        return name, packed

    def submit(self, shared: Any, place: int, task: bytes, title: str, avoided: Collection[str]) -> int:
        """Puts an attempt at a task into the queue; returns its handle."""
        self._num_attempts += 1
        self._waiting[self._num_attempts] = shared, place, task
        return self._num_attempts

    def wait(self, attempts: Sequence[Hashable], timeout_s: float) -> list[Event]:
        """Returns what has happened since the last call; raises what has ended a worker outside of tasks."""
        events = self._hand_out()
        busy = {each.process.connection: each for each in self._workers if each.process and each.attempt is not None}
        ready = wait(list(busy), timeout=0 if events else timeout_s)
        for connection, worker in busy.items():
            if connection in ready:
                events.append(self._hear(worker))
            elif time.monotonic() - worker.heard > QUIET_S:
                self._name_quiet(worker)
        return events

    def _hand_out(self) -> list[Event]:
        """Gives the idle workers what waits; returns which attempts have begun."""
        idle = [worker for worker in self._workers if worker.attempt is None]
        given = list(zip(idle, list(self._waiting), strict=False))
        for worker, _ in given:  # all start at the same time; to send a task waits until its worker has started
            worker.process = worker.process or Process(_do_tasks, (self._prepare, self._workers.index(worker)))
        for worker, attempt in given:
            (name, packed), place, task = self._waiting.pop(attempt)
            worker.attempt, worker.heard = attempt, time.monotonic()
            assert worker.process is not None
            worker.process.send((name, packed if worker.call != name else b"", place, task))
            worker.call = name
        return [Event(attempt, Begun(_HERE)) for _, attempt in given]

    def _hear(self, worker: _Worker) -> Event:
        """Returns a worker's next message as an event."""
        assert worker.process is not None
        attempt, (kind, value) = worker.attempt, worker.process.receive()
        worker.heard = time.monotonic()
        if kind == "progress":
            return Event(attempt, Progress(value))
        worker.attempt = None
        if kind == "answer":
            return Event(attempt, value)
        worker.end()
        if kind == "error":
            raise value.error()
        return Event(attempt, Death(value, is_of_node=False))

    def _name_quiet(self, worker: _Worker) -> None:
        """Names a worker that has been quiet for long, once in each task."""
        assert worker.process is not None
        worker.heard = math.inf
        self._tell(
            f"a worker process has reported nothing for {QUIET_S / 60:.0f} minutes; if it hangs, end it with "
            f"kill -9 {worker.process.pid}, and another one does its task again"
        )

    def cancel(self, attempt: Hashable) -> None:
        """Ends an attempt, and the process in which it runs."""
        self._waiting.pop(attempt, None)  # type: ignore[call-overload]
        for worker in self._workers:
            if worker.attempt == attempt:
                worker.end()

    def launch(self, num_processes: int) -> contextlib.AbstractContextManager[Host]:
        """Opens this machine as the host of ranks."""
        return local_host(num_processes)

    def end(self) -> None:
        """Ends all workers."""
        for worker in self._workers:
            worker.end()


def _do_tasks(connection: Connection) -> None:
    """Prepares, and does tasks. Runs in a worker process."""
    prepare, number = connection.recv()
    if prepare is not None:
        prepare(number)
    while True:
        name, packed, place, task = connection.recv()
        answer = do_task(name, packed, place, task, _HERE, lambda num: connection.send(("progress", num)))
        connection.send(("answer", answer))


# --- ranks ---


@contextmanager
def local_host(num_processes: int) -> Iterator[Host]:
    """A launcher: ranks are processes of this machine, and share its cores with this process."""
    from azero.system.machine import count_cores  # not where processes begin: it imports NumPy

    with tempfile.TemporaryDirectory(prefix="azero-") as folder, ExitStack() as stack:

        def start(make: Callable[[], Any], number: int) -> Peer:
            peer = LocalPeer(make, number)
            stack.callback(peer.process.end)
            return peer

        yield Host(Path(folder) / "rendezvous", max(1, count_cores() // num_processes), start)


class LocalPeer:
    """A rank in a process of this machine; see `Peer`."""

    def __init__(self, make: Callable[[], Any], number: int):
        self._who = f"process {number} of the trainer"
        self.process = Process(_do_calls, make)

    def call(self, method: str, *arguments: Any) -> None:
        """Begins a call; see `Peer`."""
        self.process.send((method, arguments))

    def result(self, timeout_s: float) -> Any:
        """Returns the result of a call; see `Peer`."""
        deadline = time.monotonic() + timeout_s
        while not wait([self.process.connection], timeout=_POLL_S):  # short, so that every system hears Ctrl-C
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self._who} does not answer")
        kind, value = self.process.receive()
        if kind == "death":
            raise PeerDied(f"{self._who} {value}")
        if kind == "error":
            raise value.error()
        return value


def _do_calls(connection: Connection) -> None:
    """Makes an object, and does calls. Runs in a rank's process."""
    own = connection.recv()()
    connection.send(("result", None))
    while True:
        method, arguments = connection.recv()
        connection.send(("result", getattr(own, method)(*arguments)))
