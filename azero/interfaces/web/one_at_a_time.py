"""Work that requests do one after another, so that it leaves the threads and the cores to others."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from azero.interfaces.web.errors import ApiError


class OneAtATime:
    """Lets one request work while some wait; further ones are refused."""

    def __init__(self, busy: str, most_waiting: int = 8):
        """`busy` begins the message of a refusal, e.g. "the server is busy"."""
        self._busy = busy
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(most_waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Waits until it is the caller's turn, which lasts for the block; raises ApiError if too many wait already."""
        if not self._places.acquire(blocking=False):
            raise ApiError(503, "busy", f"{self._busy} with other requests; try again", retry_s=1)
        try:
            with self._lock:
                yield
        finally:
            self._places.release()
