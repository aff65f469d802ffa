"""What a pool needs of a cluster: to place attempts at tasks, to hear of them, and to end them."""

from collections.abc import Collection, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from azero.cluster.messages import Message, Terms
from azero.system.peers import Host


class Death(NamedTuple):
    """An attempt has ended without an answer."""

    how: str  # follows "a worker"
    is_of_node: bool  # a whole node has gone, which is not the task's fault


class Event(NamedTuple):
    """Something has happened to an attempt."""

    attempt: Hashable
    what: Message | Death


class Backend(Protocol):
    """A cluster."""

    def slots(self) -> dict[str, int]:
        """Returns how many tasks each living node can do at the same time."""

    def share(self, terms: Terms, name: str, packed: bytes) -> Any:
        """Gives the nodes what the tasks of a call have in common; returns a handle."""

    def submit(self, shared: Any, place: int, task: bytes, title: str, avoided: Collection[str]) -> Hashable:
        """Begins an attempt at a task, on any node but the avoided ones; returns its handle."""

    def wait(self, attempts: Sequence[Hashable], timeout_s: float) -> list[Event]:
        """Returns what has happened since the last call; waits until something happens, but not longer than that."""

    def cancel(self, attempt: Hashable) -> None:
        """Ends an attempt, and the process in which it runs."""

    def launch(self, terms: Terms, num_processes: int) -> AbstractContextManager[Host]:
        """Opens a host for the processes of a trainer, this one among them."""
