"""Tells on stderr what the seconds go into while kernels compile: on a terminal at once, elsewhere after a while."""

import multiprocessing
import sys
import threading
import time

from numba.core import event
from numba.core.caching import NullCache

PATIENCE_S = 5.0
"""Seconds of compiling that need no word where nobody sits at a terminal."""


def install() -> None:
    """Listens to Numba's compiler from now on; workers leave the word to the process that started them."""
    if multiprocessing.parent_process() is None:
        event.register("numba:compile", _Notice())


class _Notice(event.Listener):
    """Says it once, of what is kept on disk: the rest is compiled in each process, in a moment.

    Numba compiles under a lock, so one thread at a time starts and ends; only the timer's is beside it.
    """

    def __init__(self) -> None:
        self._is_told = False
        self._depth = 0  # a kernel's subroutines are compiled within it
        self._begin = self._seconds = 0.0  # of compiling under way; of all that is done
        self._timer = threading.Timer(0.0, self._tell)

    def on_start(self, event: event.Event) -> None:
        if isinstance(event.data["dispatcher"]._cache, NullCache) and self._depth == 0:
            return
        self._depth += 1
        if self._depth > 1 or self._is_told:
            return
        if sys.stderr.isatty():
            self._tell()
            return
        self._begin = time.perf_counter()
        self._timer = threading.Timer(max(0.0, PATIENCE_S - self._seconds), self._tell)
        self._timer.daemon = True
        self._timer.start()

    def on_end(self, event: event.Event) -> None:
        if self._depth == 0:
            return
        self._depth -= 1
        if self._depth == 0 and not self._is_told:
            self._timer.cancel()
            self._seconds += time.perf_counter() - self._begin

    def _tell(self) -> None:
        self._is_told = True
        over_a_bar = "\r\x1b[K" if sys.stderr.isatty() else ""
        text = "compiling what is not in the cache yet; it takes some seconds, on a busy machine a minute"
        print(f"{over_a_bar}azero: {text}", file=sys.stderr)
