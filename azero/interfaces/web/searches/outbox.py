"""An outbox: what a stream sends next. A slow reader costs nothing: only the newest update waits."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any


class Outbox:
    """Takes events from any thread, and gives them to one stream as text of `text/event-stream`.

    Args:
      loop: the stream's.
      keeps_all: whether every update is sent, and not the newest alone.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, keeps_all: bool = False):
        self._loop, self._keeps_all = loop, keeps_all
        self._lock = threading.Lock()
        self._events: list[tuple[str, dict[str, Any]]] = []
        self._is_over = False
        self._has_news = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Whether nothing can be added."""
        return self._is_over

    def put(self, event: str, data: dict[str, Any], is_last: bool = False) -> None:
        """Adds an event. It replaces one of its kind that has not been sent."""
        with self._lock:
            if self._is_over:
                return
            if not self._keeps_all:
                self._events = [each for each in self._events if each[0] != event]
            self._events.append((event, data))
            self._is_over = is_last
        self._wake()

    def close(self) -> None:
        """Ends the stream without a further event."""
        with self._lock:
            self._is_over = True
        self._wake()

    async def texts(self) -> AsyncIterator[bytes]:
        """Yields what is to be sent, until the last event."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            while True:
                with self._lock:
                    is_over = self._is_over
                    event = self._events.pop(0) if self._events else None
                if event is None:
                    break
                yield f"event: {event[0]}\ndata: {json.dumps(event[1], separators=(',', ':'))}\n\n".encode()
            if is_over:
                return

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._has_news.set)
