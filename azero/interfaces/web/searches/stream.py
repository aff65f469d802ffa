"""The answer that streams an outbox, and ends the search when its reader has gone."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


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


_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream(Response):
    """Sends events of an outbox until it ends, the reader has gone, or the reader is too slow.

    Args:
      on_end: called at the end, however it comes.
      slow_reader_s: seconds that the reader may take for what waits.
    """

    media_type = "text/event-stream"

    def __init__(self, outbox: Outbox, on_end: Callable[[], None], slow_reader_s: float):
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]
        self._outbox, self._on_end, self._slow_reader_s = outbox, on_end, slow_reader_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        watch = asyncio.create_task(self._watch(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for text in self._outbox.texts():
                message = {"type": "http.response.body", "body": text, "more_body": True}
                await asyncio.wait_for(send(message), self._slow_reader_s)
            await asyncio.wait_for(send({"type": "http.response.body", "body": b""}), self._slow_reader_s)
        except TimeoutError:  # the search ends here; the connection does when the reader takes the rest, or leaves
            pass
        finally:
            watch.cancel()
            self._on_end()

    async def _watch(self, receive: Receive) -> None:
        """Ends the search as soon as the reader has gone."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._on_end()
        self._outbox.close()
