"""Another process that compiles for this one. Numba holds Python's lock for seconds; a server must answer meanwhile.

A thread of this process that needs a kernel waits for the other process, and then finds it in the cache on disk. What
the other process does not compile, this one does.
"""

import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from azero.compiler import beside, notice
from azero.system.local_backend import Connection, Process

_POLL_S = 0.05

_IDLE_S = 60.0
"""How long the other process waits for more to do. It takes some 200 MB of memory."""

Job = tuple[Callable[..., object], tuple]
"""A module's function that needs kernels, and its arguments."""


class Abandoned(Exception):
    """What is compiled is no longer wanted."""


class Elsewhere:
    """A process that does jobs, and so compiles what they need. Their results are lost, and so are their errors.

    Args:
      first: jobs that come first. Afterwards the process can read others, e.g. with a user's game.
      nice: how much other processes go first, from 0 to 19.
    """

    def __init__(self, first: Sequence[Job] = (), nice: int = 0):
        self._first = first, nice
        self._process: Process | None = None
        self._lock = threading.Lock()

    def do(
        self,
        job: Job,
        is_wanted: Callable[[], bool] = lambda: True,
        on_progress: Callable[[int], object] = lambda num: None,
    ) -> None:
        """Does a job, and waits for its end; raises Abandoned, and ends the process, when it is not wanted any more.

        Args:
          on_progress: called with the number of kernels that it has compiled, first with 0.
        """
        try:
            packed = pickle.dumps(job)
        except Exception:  # this process does it, then
            return
        num_compiled = 0
        with self._lock:
            on_progress(num_compiled)
            connection = self._begin(packed)
            while True:
                if not is_wanted():
                    self.end()
                    raise Abandoned
                if not connection.poll(_POLL_S):
                    continue
                assert self._process is not None
                kind, _ = self._process.receive()
                if kind == "idle":  # it ended before it read the job
                    self.end()
                    connection = self._begin(packed)
                elif kind == "compiled":
                    num_compiled += 1
                    on_progress(num_compiled)
                else:
                    break
            if kind != "done":  # the process has failed, and ended
                self.end()

    def _begin(self, packed: bytes) -> Connection:
        """Sends a job to the process, which is started if there is none."""
        if self._process is not None and self._process.connection.poll():  # it ends, since it had nothing to do
            self.end()
        if self._process is None:
            self._process = Process(_do_jobs, self._first)
        self._process.send(packed)
        return self._process.connection

    def end(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.end()
        self._process = None


def _do_jobs(connection: Connection) -> None:
    """Does jobs, prints nothing. Runs in the other process."""
    first, nice = connection.recv()
    if sys.platform != "win32":
        os.nice(nice)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, for as long as the process lives
    beside.allow_here()
    notice.on_kernel(lambda: connection.send(("compiled", None)))
    for job in first:
        _do(job)
    while connection.poll(_IDLE_S):
        packed = connection.recv()
        with suppress(Exception):
            _do(pickle.loads(packed))
        connection.send(("done", None))
    connection.send(("idle", None))


def _do(job: Job) -> None:
    function, arguments = job
    with suppress(Exception):  # whoever needs the kernels gets the same error
        function(*arguments)


# --- kernels that a process misses ---

_elsewhere: Elsewhere | None = None
"""The process that compiles for this one."""

_own = threading.local()
"""Of each thread in a block of `compiled_by`: `job`, a call that has not been needed yet; None afterwards."""


@contextmanager
def compiling_elsewhere(process: Elsewhere) -> Iterator[None]:
    """Within the block, another process compiles what threads of this one need."""
    global _elsewhere
    before, _elsewhere = _elsewhere, process
    try:
        yield
    finally:
        _elsewhere = before


@contextmanager
def compiled_by(
    job: Job, is_wanted: Callable[[], bool] = lambda: True, on_progress: Callable[[int], object] = lambda num: None
) -> Iterator[None]:
    """If the block needs a kernel that must be compiled, the other process does the job first; see `Elsewhere.do`.

    A job that needs all the kernels of the block compiles faster than one kernel after another.
    """
    _own.job = lambda process: process.do(job, is_wanted, on_progress)
    try:
        yield
    finally:
        _own.job = None


def attempts(function: Callable, signature: object) -> Iterator[None]:
    """Yields whenever the other process may have put a kernel on disk that this one misses. The caller looks there."""
    if _elsewhere is None:
        return
    if job := getattr(_own, "job", None):
        _own.job = None
        job(_elsewhere)
        yield
    _elsewhere.do((_compile, (function.__module__, function.__qualname__, signature)))
    yield


def _compile(module: str, name: str, signature: Any) -> None:
    """Compiles a kernel for a signature. Runs in the other process."""
    getattr(import_module(module), name).by_numba.compile(signature)
