"""A worker's side: it does the tasks of a call. Results, and errors of any kind, return as bytes with a digest."""

import errno
import hashlib
import pickle
import platform
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from azero.errors import BadInput, Damaged

Work = Callable[[Any, Any, Callable[[int], None]], Any]
"""A module's function, `work(shared, task, on_progress)`, that turns a task into a result.

`shared` is what all tasks of a call have in common. Numbers given to `on_progress` tell how far the task is.
"""


@dataclass(frozen=True)
class Call:
    """What all tasks of a call have in common. It travels to each worker, or to each node, once.

    Attributes:
      name: a random one: no other call of any pool has it.
      around: makes the context in which a worker does each task.
    """

    name: str
    work: Work
    shared: Any
    around: Callable[[], AbstractContextManager] = nullcontext


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


_LAST: dict[str, Call] = {}
"""The last calls whose tasks this process has done, by name. They stay unpacked from one task to the next."""

_MOST_CALLS = 2
"""Self-play that is ahead and the matches of a gate take turns."""

_OF_DISK = errno.ENOSPC, errno.EDQUOT
"""Numbers of the errors by which this machine's disk is full, or this user's share of it."""


def do_task(
    name: str, packed: bytes, place: int, task: bytes, node: str, on_progress: Callable[[int], None] = lambda num: None
) -> Answer:
    """Does a task; returns its result, or the error that it has raised.

    Args:
      name: the call's.
      packed: the call. It is not looked at if this process has done a task of the call before.

    Raises MemoryError, and OSError where the disk is full, so that another machine of a cluster may do the task.
    """
    progress = 0

    def report(num: int) -> None:
        nonlocal progress
        progress += num
        on_progress(num)

    try:
        if name not in _LAST:
            if len(_LAST) == _MOST_CALLS:
                del _LAST[next(iter(_LAST))]
            _LAST[name] = pickle.loads(packed)
        call = _LAST[name]
        with call.around():  # the traceback stays in this process
            result = call.work(call.shared, pickle.loads(task), report)
        return seal(name, place, node, "result", result, progress)
    except BaseException as error:  # also sys.exit, which would count as a death
        if isinstance(error, MemoryError) or getattr(error, "errno", None) in _OF_DISK:
            raise
        carried = CarriedError.of(error, f"In a worker process on {platform.node()}")
        return seal(name, place, node, "error", carried, progress)


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


@dataclass(frozen=True)
class CarriedError:
    """An error of another process. It can be pickled, whatever the error is, and arrives once.

    Args:
      shown: the name of the error's type, and its message.
      data: the error, pickled; empty if it cannot be.
      plain: stands for the error where it cannot be made again.
      note: says where it was raised, with the trace.
    """

    shown: str
    data: bytes
    plain: Exception
    note: str

    @classmethod
    def of(cls, error: BaseException, place: str) -> "CarriedError":
        """Packs an error that is being handled.

        Args:
          place: where it was raised, e.g. "In a worker process".
        """
        shown, data = type(error).__name__, b""
        with suppress(Exception):  # it may have no message, and attributes of any kind
            shown = _shown(error)
            data = pickle.dumps(error, protocol=5)
        plain = BadInput(str(error)) if isinstance(error, BadInput) else RuntimeError(shown)
        return cls(shown, data, plain, f"{place}:\n{traceback.format_exc()}")

    def error(self) -> Exception:
        """Returns the error. If it cannot be made again as it was, another one has its type's name and its message."""
        error = self.plain
        with suppress(Exception):  # its type may not exist here, or take other arguments than pickle gives it
            found = pickle.loads(self.data)
            if isinstance(found, Exception) and _shown(found) == self.shown:
                error = found
        error.add_note(self.note)
        return error


def _shown(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
