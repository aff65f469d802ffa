"""Where processes run. A backend has workers for tasks, which may be done again, and ranks, which fall together.

There are two: this machine (`azero.system.local_backend`), and a Ray cluster (`azero.cluster.ray_backend`).
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from azero.errors import BadInput
from azero.system.worker_side import Answer

# --- tasks ---


class Begun(NamedTuple):
    """A worker has begun a task."""

    node: str


class Progress(NamedTuple):
    """A worker has reported how far its task is."""

    num: int


class Refused(NamedTuple):
    """A node cannot work for this process."""

    node: str
    host: str
    how: str  # follows "it"


class Death(NamedTuple):
    """An attempt has ended without an answer."""

    how: str  # follows "a worker"
    is_of_node: bool  # a whole node has gone, which is not the task's fault


class Event(NamedTuple):
    """Something has happened to an attempt."""

    attempt: Hashable
    what: Begun | Progress | Answer | Refused | Death


MOST_AHEAD = 1000
"""Attempts that wait in a cluster's queue, beside those that run."""


class Backend(Protocol):
    """Workers, and where ranks can be started.

    Attributes:
      is_cluster: whether each worker has its cores for itself, and nodes may join and leave.
      is_mixed: whether each machine runs nets in its own fastest way, so that results depend on it.
      most_ahead: how many attempts may wait in its queue, beside those that run.
    """

    is_cluster: bool
    is_mixed: bool
    most_ahead: int

    def slots(self) -> dict[str, int]:
        """Returns how many tasks each living node can do at the same time."""

    def share(self, name: str, packed: bytes) -> Any:
        """Gives the workers what the tasks of a call have in common; returns a handle."""

    def submit(self, shared: Any, place: int, task: bytes, title: str, avoided: Collection[str]) -> Hashable:
        """Begins an attempt at a task, on any node but the avoided ones; returns its handle."""

    def wait(self, attempts: Sequence[Hashable], timeout_s: float) -> list[Event]:
        """Returns what has happened since the last call; waits until something happens, but not longer than that."""

    def cancel(self, attempt: Hashable) -> None:
        """Ends an attempt, and the process in which it runs."""

    def launch(self, num_processes: int) -> "AbstractContextManager[Host]":
        """Opens a host for a number of processes, this one among them. Ranks end with its `with` block."""

    def end(self) -> None:
        """Ends the workers that are this process's own."""


# --- ranks ---

GLOO_INTERFACE = "GLOO_SOCKET_IFNAME"
"""The environment's variable with the network interface on which torch's gloo listens, where ranks talk by it."""


class PeerDied(BadInput):
    """The process of a rank has ended."""


class Peer(Protocol):
    """A rank's object in another process. Its calls are done one after another, in order; it keeps its state."""

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


class Host(NamedTuple):
    """Where ranks run.

    Attributes:
      rendezvous: where the ranks and this process can meet: a file that does not exist yet, or tcp://ADDRESS:PORT.
      num_threads: how many threads each rank, and this process, should use.
      start: `start(make, number)` begins to make the object of a rank in a new process, and does not wait for it.
    """

    rendezvous: Path | str
    num_threads: int
    start: Callable[[Callable[[], Any], int], Peer]


Launcher = Callable[[int], AbstractContextManager[Host]]
"""Opens a host; see `Backend.launch`."""
