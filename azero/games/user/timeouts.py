"""Time limits for a user's code: seconds of computing, and seconds by the clock."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

COMPUTE_S = 10.0
"""Seconds of computing for one call of a method. On a busy machine it may take longer by the clock."""

ELAPSED_S = 60.0
"""Seconds by the clock for one call, and for running a file. Code that waits or sleeps does not compute."""


class TimedOut(BaseException):
    """A time limit is over. It is a BaseException, so that no `except Exception` in the rules catches it."""


@contextmanager
def time_limit(compute_s: float | None = None) -> Iterator[None]:
    """Raises TimedOut inside the block when its time is over.

    It needs signals. In other threads than the main one and on Windows it does nothing.

    Args:
      compute_s: seconds of computing; COMPUTE_S by default. The limit by the clock is always ELAPSED_S.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    rung: list[int] = []
    with ExitStack() as stack:
        computing = COMPUTE_S if compute_s is None else compute_s
        stack.enter_context(_timer(signal.ITIMER_VIRTUAL, signal.SIGVTALRM, computing, rung))
        stack.enter_context(_timer(signal.ITIMER_REAL, signal.SIGALRM, ELAPSED_S, rung))
        yield


@contextmanager
def _timer(which: int, number: signal.Signals, seconds: float, rung: list[int]) -> Iterator[None]:
    """Raises TimedOut when a timer is over. Afterwards an outer timer continues with the time that it had left.

    Only one of the timers that share `rung` raises: a second error would replace the first and its traceback.
    """

    if sys.platform == "win32":
        raise NotImplementedError("Windows has no timers")

    def ring(signum, frame):
        if rung:
            return
        rung.append(signum)
        raise TimedOut(f"has not ended within {seconds:g} s")

    before = signal.signal(number, ring)
    timer = signal.setitimer(which, seconds)
    try:
        yield
    finally:
        signal.setitimer(which, *timer)
        signal.signal(number, before)
