"""Ctrl-C: delayed in code that it must not interrupt, and ignored in worker processes."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruption_waits(on_press: Callable[[], None] = lambda: None) -> Iterator[Callable[[], bool]]:
    """Delays Ctrl-C within the block. A second Ctrl-C has its usual effect.

    Args:
      on_press: called at once when Ctrl-C is pressed.

    Yields a function that returns whether Ctrl-C was pressed. The block calls it, and raises KeyboardInterrupt where
    that is safe.
    """
    if threading.current_thread() is not threading.main_thread():  # signals arrive only in the main thread
        yield lambda: False
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


def follow_parent() -> None:
    """Prepares a worker process: it ignores Ctrl-C, which its parent handles, and ends when its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
