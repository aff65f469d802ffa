"""Ctrl-C, held back where it would strike in the middle of something; and what it is to worker processes."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interruption_waits() -> Iterator[Callable[[], bool]]:
    """Holds Ctrl-C back within the block; a second one goes through.

    Yields a function that tells whether it was pressed; whoever is in the block asks it, and raises KeyboardInterrupt
    where that does no harm.
    """
    if threading.current_thread() is not threading.main_thread():  # where signals do not arrive
        yield lambda: False
        return
    pressed = []

    def note(number: int, frame: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def follow_parent() -> None:
    """Prepares a worker process: Ctrl-C is its parent's business, and it does not outlive its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
