"""How long one waits for what a user has written: so much computing, and so much time in all."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

COMPUTE_S = 10.0
"""Seconds that one call of a method may compute; on a busy machine it may last longer."""

ELAPSED_S = 60.0
"""Seconds that it may last, and that running a file may: it may wait, or sleep."""


class TimedOut(BaseException):
    """Something has taken longer than anyone should wait. No `except Exception` of the rules' own holds it up."""


@contextmanager
def time_limit(compute_s: float | None = None) -> Iterator[None]:
    """Raises TimedOut inside when its time is over. It needs signals: the main thread, and a system other than Windows.

    Args:
      compute_s: seconds of computing; COMPUTE_S unless given. ELAPSED_S by the clock are the limit in any case.
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
    """Raises TimedOut when a timer is over; an outer one goes on afterwards from where it was.

    Of timers that share `rung` one raises: a second would take the place of the first, which knows where it struck.
    """

    if sys.platform == "win32":
        raise NotImplementedError("Windows has no timers")

    def ring(signum, frame):
        if rung:
            return
        rung.append(signum)
        raise TimedOut(f"has not come to an end within {seconds:g} s")

    before = signal.signal(number, ring)
    timer = signal.setitimer(which, seconds)
    try:
        yield
    finally:
        signal.setitimer(which, *timer)
        signal.signal(number, before)
