"""A worker's side: it checks that this machine may take part, does a task, and seals the result."""

import errno
import pickle
import platform

from azero.cluster.fingerprint import Fingerprint, difference
from azero.cluster.messages import Answer, Call, Refused, seal
from azero.games.user.failures import failures_named
from azero.system.carried import CarriedError

_LAST: dict[str, Call] = {}
"""The last calls whose tasks this process has done, by name. They stay unpacked from one task to the next."""

_MOST_CALLS = 2
"""Self-play that is ahead and the matches of a gate take turns."""

_OF_DISK = errno.ENOSPC, errno.EDQUOT
"""Numbers of the errors by which this machine's disk is full, or this user's share of it."""


def check_machine(terms: tuple, node: str) -> Refused | None:
    """Returns why this node is refused; None if it may work.

    Args:
      terms: the values of the driver's `Terms`.
      node: Ray's name of this node.
    """
    try:
        fingerprint, is_mixed = terms
        how = difference(Fingerprint(*fingerprint), Fingerprint.here(), is_mixed)
    except (TypeError, ValueError):
        how = "another version of azero"
    return Refused(node, platform.node(), f"has {how}") if how else None


def do_task(name: str, packed: bytes, place: int, task: bytes, node: str) -> Answer:
    """Does a task; returns its result, or the error that it has raised.

    Args:
      name: the call's.
      packed: the call.

    Raises MemoryError, and OSError where the disk is full, so that another worker does the task.
    """
    progress = 0

    def report(num: int) -> None:
        nonlocal progress
        progress += num

    try:
        if name not in _LAST:
            if len(_LAST) == _MOST_CALLS:
                del _LAST[next(iter(_LAST))]
            _LAST[name] = pickle.loads(packed)
        call = _LAST[name]
        with failures_named():  # the traceback stays in this process
            result = call.work(call.shared, pickle.loads(task), report)
        return seal(name, place, node, "result", result, progress)
    except Exception as error:
        if isinstance(error, MemoryError) or getattr(error, "errno", None) in _OF_DISK:
            raise
        carried = CarriedError.of(error, f"In a worker process on {platform.node()}")
        return seal(name, place, node, "error", carried, progress)
