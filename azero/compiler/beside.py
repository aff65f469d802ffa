"""A second process that compiles while this one does: one lock of Numba's covers all that a process compiles.

It is a fork, so it has every value of this process. It does the work that it is given, which compiles what the work
needs, and ends. This process finds the kernels in the cache on disk. It waits for one that is being compiled.
"""

import ctypes
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from azero.compiler import notice
from azero.system.interrupt import interruption_waits
from azero.system.machine import count_cores

LONGEST_S = 60.0
"""How long another process is waited for that compiles. Afterwards this process compiles by itself."""

_POLL_S = 0.01
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux

_is_allowed = multiprocessing.parent_process() is None
"""Whether this process may start a second one. Worker processes may not: there is one a core."""

_own = threading.local()
"""Of each thread in a block of `compiling_beside`: `work`, and the number of the `process` that does it, if any."""


def allow_here() -> None:
    """Allows this process, which another one has started, to start a second one."""
    global _is_allowed
    _is_allowed = True


@contextmanager
def compiling_beside(work: Callable[[], object]) -> Iterator[None]:
    """If the block compiles a kernel, a second process does `work` meanwhile. The block's end waits for it.

    `work` should need other kernels than the block does. Its results are lost, and so are its errors: whoever needs
    them does the work again. Without a second core, on another system than Linux, in worker processes, in other threads
    than the main one, and beside Ray, there is no second process; then everything is compiled in this one. If another
    thread holds a lock that the work needs, the second process hangs, and is ended at last.
    """
    is_alone = threading.current_thread() is threading.main_thread() and "ray" not in sys.modules
    if sys.platform != "linux" or count_cores() < 2 or not _is_allowed or not is_alone:
        yield
        return
    before = vars(_own).copy()
    _own.work, _own.process = work, 0
    try:
        yield
        _wait(_own.process)
    except BaseException:
        _end(_own.process)
        raise
    finally:
        vars(_own).clear()
        vars(_own).update(before)


def note_missing() -> None:
    """Starts the second process if a block of this thread has one to start: a kernel is about to be compiled.

    The caller holds Numba's lock. The second process holds it, too, as a copy of this thread.
    """
    work = getattr(_own, "work", None)
    if work is None or sys.platform != "linux":
        return
    _own.work = None
    parent = os.getpid()
    with interruption_waits() as interrupted, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork with threads; the other one only compiles
        if process := os.fork():
            _own.process = process
        else:
            _do_and_exit(work, parent)
    if interrupted():
        raise KeyboardInterrupt


def _do_and_exit(work: Callable[[], object], parent: int) -> None:
    """Does the work. Runs in the second process."""
    try:
        _prepare_process(parent)
        work()
    finally:  # an error, too: this process would go on as a copy of the other one
        os._exit(0)


def _prepare_process(parent: int) -> None:
    """Lets this process end with its parent, print nothing, and keep nothing of it open or alive."""
    global _is_allowed
    if sys.platform != "linux":
        return
    _is_allowed = False
    notice.on_kernel(lambda: None)
    ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before
        os._exit(0)
    gc.disable()  # objects of the parent's threads end with this process, without their finalisers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    for each in os.listdir("/proc/self/fd"):  # else connections that the parent ends would stay open
        with suppress(OSError):
            if int(each) > 2:
                os.close(int(each))


def _wait(process: int) -> None:
    """Waits until a process has ended, or ends it when it takes too long."""
    if sys.platform != "linux":
        return
    deadline = time.monotonic() + LONGEST_S
    with suppress(OSError):  # somebody else has waited for it
        while process and os.waitpid(process, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                _end(process)
                return
            time.sleep(_POLL_S)


def _end(process: int) -> None:
    if process and sys.platform == "linux":
        with suppress(OSError):  # it has ended
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
