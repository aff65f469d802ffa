"""Peers: objects in processes of their own, whose methods are called from here. They keep their state between calls."""

import contextlib
import multiprocessing
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Protocol

from azero.errors import BadInput
from azero.system.carried import CarriedError
from azero.system.interrupt import follow_parent
from azero.system.machine import count_cores
from azero.system.workers import safe_path

_POLL_S = 0.1

GLOO_INTERFACE = "GLOO_SOCKET_IFNAME"
"""The environment's variable with the network interface on which torch's gloo listens, where peers talk by it."""


class PeerDied(BadInput):
    """The process of a peer has ended."""


class Peer(Protocol):
    """An object in another process. Its calls are done one after another, in order."""

    def call(self, method: str, *arguments: Any) -> None:
        """Begins a call of a method. It waits at most until the calls before are done, if there is much to send."""

    def result(self, timeout_s: float) -> Any:
        """Returns the result of the first call whose result has not been taken yet; waits for it.

        The first result, None, is that of making the object.

        Raises:
          PeerDied: the process has ended.
          TimeoutError: it has not answered in time.
          Exception: what the call has raised. The object is then gone.
        """


class Host(Protocol):
    """Where peers run.

    Attributes:
      meeting: where the peers and this process can meet: a file that does not exist yet, or tcp://ADDRESS:PORT.
      num_threads: how many threads each peer, and this process, should use.
    """

    meeting: Path | str
    num_threads: int

    def start(self, make: Callable[[], Any], number: int) -> Peer:
        """Begins to make an object in a new process, `make()`, and does not wait for it. It is peer `number`."""


Launcher = Callable[[int], AbstractContextManager[Host]]
"""Opens a host for a number of processes, this one among them. Peers end with its `with` block."""


@contextmanager
def local_host(num_processes: int) -> Iterator[Host]:
    """A launcher: peers are processes of this machine, and share its cores with this process."""
    with tempfile.TemporaryDirectory(prefix="azero-") as folder, ExitStack() as stack:
        yield _LocalHost(Path(folder) / "meeting", max(1, count_cores() // num_processes), stack)


class _LocalHost:
    def __init__(self, meeting: Path, num_threads: int, stack: ExitStack):
        self.meeting: Path | str = meeting
        self.num_threads = num_threads
        self._stack = stack

    def start(self, make: Callable[[], Any], number: int) -> Peer:
        peer = _LocalPeer(make, number)
        self._stack.callback(peer.end)
        return peer


class _LocalPeer:
    def __init__(self, make: Callable[[], Any], number: int):
        self._number = number
        context = multiprocessing.get_context("spawn")
        self._connection, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        with safe_path():
            self._process.start()
        other.close()  # so that the pipe ends when the process does
        self._send(make)

    def call(self, method: str, *arguments: Any) -> None:
        self._send((method, arguments))

    def _send(self, message: object) -> None:
        with contextlib.suppress(OSError):  # it has died; `result` will say so
            self._connection.send(message)

    def result(self, timeout_s: float) -> Any:
        deadline = time.monotonic() + timeout_s
        while not wait([self._connection], timeout=_POLL_S):  # short, so that Ctrl-C is heard on every system
            if time.monotonic() > deadline:
                raise TimeoutError(f"process {self._number} of the trainer does not answer")
        try:
            is_done, value = self._connection.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode or 0
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
            raise PeerDied(f"process {self._number} of the trainer {how}") from None
        if is_done:
            return value
        raise value.error()

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()


def _serve(connection: Any) -> None:
    """Makes the object, and does calls until one fails or the pipe ends. Runs in the peer's process."""
    follow_parent()
    with contextlib.suppress(OSError):  # the pipe has ended
        try:
            own = connection.recv()()
            connection.send((True, None))
            while True:
                method, arguments = connection.recv()
                connection.send((True, getattr(own, method)(*arguments)))
        except BaseException as error:  # also sys.exit
            connection.send((False, CarriedError.of(error, "In another process of the trainer")))
