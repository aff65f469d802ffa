"""A notice on stderr that kernels are compiling: on a terminal at once, elsewhere after `PATIENCE_S`."""

import multiprocessing
import sys
import threading
import time
from collections.abc import Callable

from azero.compiler.libraries import why_unused

_OVER_A_LINE = "\r\x1b[K"
_BETWEEN_S = 0.2  # from one progress to the next

PATIENCE_S = 5.0
"""Seconds of compilation without a notice if stderr is not a terminal."""


def install() -> None:
    """Starts to listen to Numba's compiler."""
    from numba.core import event  # whoever asks whether something is compiled needs no Numba
    from numba.core.caching import NullCache

    class Listener(event.Listener):
        def on_start(self, event: event.Event) -> None:
            dispatcher = event.data["dispatcher"]
            _NOTICE.begin(dispatcher.py_func.__name__, not isinstance(dispatcher._cache, NullCache))

        def on_end(self, event: event.Event) -> None:
            _NOTICE.end()

    event.register("numba:compile", Listener())


def on_kernel(listener: Callable[[], object]) -> None:
    """Calls a function from now on whenever this process has compiled a kernel that is kept on disk."""
    _NOTICE.listener = listener


class _Notice:
    """Prints the notice once, for functions that are kept on disk. Others are compiled in each process, quickly.

    Worker processes print none: the process that started them does. A worker knows its parent only after its imports.
    Numba compiles under a lock, so events come from one thread at a time. Only the timer runs in parallel.
    """

    def __init__(self) -> None:
        self._is_printed = False
        self.depth = 0  # of nested compilations: a kernel's subroutines are compiled within it
        self.listener: Callable[[], object] = lambda: None
        self._kernel, self._num_functions = "", 0  # under compilation, and how many functions of it were begun
        self._shown = 0.0  # when the progress was shown last; 0: it is not on the screen
        self._begin = self._seconds = 0.0  # start of the current compilation; duration of the finished ones
        self._timer = threading.Timer(0.0, self._print)

    def begin(self, name: str, is_kept: bool) -> None:
        """Takes note of a function that is compiled from now on."""
        if not is_kept and self.depth == 0:
            return
        self.depth += 1
        if multiprocessing.parent_process() is not None:
            return
        if self.depth > 1:
            self._num_functions += 1
            self._show_progress()
            return
        self._kernel, self._num_functions = name, 0
        if self._is_printed:
            return
        if sys.stderr.isatty():
            self._print()
            return
        self._begin = time.perf_counter()
        self._timer = threading.Timer(max(0.0, PATIENCE_S - self._seconds), self._print)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Takes note of the end of the compilation that was begun last."""
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0:
            self.listener()
        if self.depth == 0 and self._shown > 0.0:
            print(_OVER_A_LINE, end="", file=sys.stderr, flush=True)
            self._shown = 0.0
        if self.depth == 0 and not self._is_printed:
            self._timer.cancel()
            self._seconds += time.perf_counter() - self._begin

    def _print(self) -> None:
        self._is_printed = True
        over_a_bar = _OVER_A_LINE if sys.stderr.isatty() else ""
        text = "compiling kernels that are not in the cache yet; this takes some seconds, or a minute on a busy machine"
        print(f"{over_a_bar}azero: {text}", file=sys.stderr)
        if why := why_unused():
            print(f"azero: {why}", file=sys.stderr)

    def _show_progress(self) -> None:
        """Shows, on a terminal, what is compiled and how far it is, in a line that goes away afterwards.

        Other threads compile while a user may type, so they show nothing.
        """
        now = time.monotonic()
        if now - self._shown < _BETWEEN_S or threading.current_thread() is not threading.main_thread():
            return
        if self._is_printed and sys.stderr.isatty():
            self._shown = now
            text = f"  compiling {self._kernel}: {self._num_functions} functions"
            print(f"{_OVER_A_LINE}{text}", end="", file=sys.stderr, flush=True)


_NOTICE = _Notice()
