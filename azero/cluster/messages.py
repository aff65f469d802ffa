"""What driver and workers send each other. A result carries the digest of its bytes and the names of call and task.

What a node sends before it is known to have the driver's azero is plain data, which any version can read.
"""

import hashlib
import pickle
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from azero.errors import Damaged
from azero.system.workers import Work


@dataclass(frozen=True)
class Call:
    """What all tasks of a call have in common. It travels to each node once."""

    name: str  # a random one: no other call of any driver has it
    work: Work
    shared: Any


class Terms(NamedTuple):
    """What a machine needs to work for a driver, as plain data, which any version of azero can read."""

    fingerprint: tuple  # the driver's
    is_mixed: bool


class Begun(NamedTuple):
    """A worker has begun a task."""

    node: str


class Refused(NamedTuple):
    """A node cannot work for this driver."""

    node: str
    host: str
    how: str  # follows "it"


class Answer(NamedTuple):
    """A task's result, or the error that its work has raised, as a `CarriedError`."""

    call: str
    place: int  # of the task in its call
    node: str
    kind: Literal["result", "error"]
    data: bytes
    digest: str
    progress: int  # the sum of what the work has reported

    @property
    def value(self) -> Any:
        return pickle.loads(self.data)


Message = Begun | Refused | Answer


def seal(call: str, place: int, node: str, kind: Literal["result", "error"], value: Any, progress: int) -> Answer:
    """Returns the answer with a value. Raises what pickle raises."""
    data = pickle.dumps(value, protocol=5)
    return Answer(call, place, node, kind, data, _digest(call, place, kind, data), progress)


def check(answer: Answer, call: str, place: int) -> None:
    """Raises Damaged unless an answer is whole, and that to this task."""
    if (answer.call, answer.place) != (call, place):
        raise Damaged("is that to another task")
    if answer.digest != _digest(call, place, answer.kind, answer.data):
        raise Damaged("is damaged")


def _digest(call: str, place: int, kind: str, data: bytes) -> str:
    return hashlib.sha256(f"{call} {place} {kind} ".encode() + data).hexdigest()
