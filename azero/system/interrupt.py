"""Ctrl-C: delayed in code that it must not interrupt, also in a thread of its own."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_own = threading.local()
"""Of each thread: `is_stopped`, if it is one of `Background`."""


@contextmanager
def interruption_waits(on_press: Callable[[], None] = lambda: None) -> Iterator[Callable[[], bool]]:
    """Delays Ctrl-C within the block. A second Ctrl-C has its usual effect.

    Args:
      on_press: called at once when Ctrl-C is pressed.

    Yields a function that returns whether Ctrl-C was pressed. The block calls it, and raises KeyboardInterrupt where
    that is safe. Signals arrive only in the main thread; in a thread of `Background` the function returns whether the
    thread is to stop.
    """
    if threading.current_thread() is not threading.main_thread():
        yield getattr(_own, "is_stopped", lambda: False)
        return
    pressed = []

    def note(number: int, frame: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)
        on_press()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def interruption_blocked() -> Iterator[None]:
    """Delays Ctrl-C within the block. Processes that are started there never receive it; this one ends them."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Background:
    """Work in a thread of its own. What it raises is raised again where its end is waited for."""

    def __init__(self, work: Callable[[], object]):
        self._stopped = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[], object]) -> None:
        _own.is_stopped = self._stopped.is_set
        try:
            work()
        except BaseException as error:
            self._error = error

    def check(self) -> None:
        """Raises what the work has raised, if it has."""
        if self._error is not None:
            raise self._error

    def wait(self, timeout_s: float) -> bool:
        """Waits for the end of the work, at most that long; returns whether it has ended. Raises what it has raised."""
        self._thread.join(timeout_s)
        self.check()
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Asks the work to stop, and waits until it does, where `interruption_waits` lets it."""
        self._stopped.set()
        self._thread.join()
