"""Connections: uvicorn's, with limits on their number, on idle ones, and on what is sent after a refusal."""

import asyncio
import json
from collections import OrderedDict
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.searches.stream import ABORT
from azero.interfaces.web.settings import ServeSettings

_MOST_IGNORED = 256 << 20  # bytes of a body that is refused: a client that is still sending would miss the answer
_MOST_LINE_ENDS = 20_000  # of a body in chunks, which have two each: to parse one takes 25 µs, however small it is
_PIECE = 1 << 14  # bytes that are parsed at once


class Connections:
    """The open connections of a server. Uvicorn calls this object to make one."""

    def __init__(self, settings: ServeSettings):
        self._settings = settings
        self._idle: OrderedDict[Connection, None] = OrderedDict()  # the one that has been idle for longest first
        self._num_open = 0

    def __call__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> "Connection":
        return Connection(self, self._settings.idle_s, config, server_state, app_state, _loop)

    def opened(self, connection: "Connection") -> None:
        """Counts a connection. If there are too many, the one that has been idle for longest is closed."""
        self._num_open += 1
        self._idle[connection] = None
        if self._num_open > self._settings.most_sockets:
            oldest, _ = self._idle.popitem(last=False)  # the next one closes another, though this one is still counted
            oldest.abort()

    def closed(self, connection: "Connection") -> None:
        """Counts a connection no longer."""
        self._num_open -= 1
        self._idle.pop(connection, None)

    def works(self, connection: "Connection", is_idle: bool) -> None:
        """Says whether a connection has a request that is being answered."""
        self._idle.pop(connection, None)
        if is_idle:
            self._idle[connection] = None


class Connection(H11Protocol):
    """A connection. Without a request for some time it is closed."""

    def __init__(self, all_of_them: Connections, idle_s: float, *arguments: Any):
        super().__init__(*arguments)
        self.app_state = {**self.app_state, ABORT: self.abort}
        self._all, self._idle_s = all_of_them, idle_s
        self._num_ignored = 0
        self._num_line_ends = 0
        self._idle_since_s = 0.0  # by the loop's clock
        self._timer: asyncio.TimerHandle | None = None

    def abort(self) -> None:
        """Closes it at once, whatever has not been sent."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._all.opened(self)
        self._idle_since_s = self.loop.time()
        self._timer = self.loop.call_later(self._idle_s, self._end_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._all.closed(self)
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        for begin in range(0, len(data), _PIECE):
            if self.transport.is_closing():
                return
            self._piece_received(data[begin : begin + _PIECE])

    def _piece_received(self, data: bytes) -> None:
        if self.cycle is not None and self.cycle.response_complete and self.conn.their_state is h11.SEND_BODY:
            self._num_ignored += len(data)
            if self._num_ignored > _MOST_IGNORED:
                self.abort()
                return
        super().data_received(data)
        if self._is_answering:
            self._all.works(self, is_idle=False)
        if self._is_within_chunks:
            self._num_line_ends += data.count(b"\r\n")
            if self._num_line_ends > _MOST_LINE_ENDS:
                self.send_400_response("the request's body comes in too many chunks")

    def on_response_complete(self) -> None:
        self._all.works(self, is_idle=True)
        self._num_line_ends = 0
        self._idle_since_s = self.loop.time()
        super().on_response_complete()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def _is_within_chunks(self) -> bool:
        """Whether more is to come of a body in chunks."""
        is_within = self.conn.their_state is h11.SEND_BODY
        return is_within and any(name == b"transfer-encoding" for name, _ in self.headers)

    def _end_if_idle(self) -> None:
        """Closes it if no request has come for the time; looks again later if there was one."""
        left_s = self._idle_s if self._is_answering else self._idle_since_s + self._idle_s - self.loop.time()
        if left_s <= 0:
            self.abort()
        else:
            self._timer = self.loop.call_later(left_s, self._end_if_idle)

    def send_400_response(self, msg: str) -> None:
        body = json.dumps(ApiError(400, "bad_request", msg).to_json()).encode()
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            response = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
