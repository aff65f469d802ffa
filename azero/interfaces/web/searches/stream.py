"""The answer that streams an outbox, and ends the search when its reader has gone."""

import asyncio
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from azero.interfaces.web.searches.outbox import Outbox

ABORT = "azero.abort"
"""The part of a scope's state that closes the connection at once, whatever has not been sent."""

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
        except (TimeoutError, OSError):
            scope.get("state", {}).get(ABORT, lambda: None)()
        finally:
            watch.cancel()
            self._on_end()

    async def _watch(self, receive: Receive) -> None:
        """Ends the search as soon as the reader has gone."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._on_end()
        self._outbox.close()
