"""Who may ask, and how much: checks of Host, Origin and the body's size, before any route is looked for."""

import asyncio
import re
from collections.abc import Awaitable, Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from azero.interfaces.web.errors import ApiError, as_api_error
from azero.interfaces.web.settings import LOOPBACK, ServeSettings

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The content security policy of every answer: nothing inline, nothing from other servers."""

_PORT = re.compile(r":\d{0,5}\Z", re.ASCII)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Answers requests that nobody may make, and adds the headers of security to all answers."""

    def __init__(self, app: ASGIApp, settings: ServeSettings):
        self._app, self._settings = app, settings
        own = f"[{settings.host}]" if ":" in settings.host else settings.host
        self._names = {name.lower() for name in (*LOOPBACK, own, *settings.allow_hosts)}
        self._origins = {origin.lower().rstrip("/") for origin in settings.allow_origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        has_begun = False

        async def begin(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        answer = self._send_with_headers(begin, origin if origin and origin.lower() in self._origins else None)
        try:
            self._check_host(headers)
            self._check_origin(scope["method"], headers)
            if scope["method"] == "OPTIONS" and origin:
                await answer({"type": "http.response.start", "status": 204, "headers": []})
                await answer({"type": "http.response.body", "body": b""})
                return
            await self._app(scope, await self._read(headers, receive), answer)
        except Exception as error:  # an answer even to what nobody expected
            if has_begun:
                raise
            response = as_api_error(error).to_response()
            if response.status_code == 400:  # it is not known where the next request begins
                response.headers["Connection"] = "close"
            await response(scope, receive, answer)

    def _check_host(self, headers: Headers) -> None:
        """Raises an error if the request addresses another server: a page may have bound its own name to this one."""
        host = headers.get("host", "")
        if _PORT.sub("", host).lower() not in self._names:
            message = f"this server is not {host!r}; --allow-host adds a name"
            raise ApiError(421, "wrong_host", message, value=host)

    def _check_origin(self, method: str, headers: Headers) -> None:
        """Raises an error if the page of another server has sent the request."""
        origin = headers.get("origin")
        if origin is not None:
            host = headers.get("host", "").lower()
            is_own = origin.lower() in (f"http://{host}", f"https://{host}")
            if not is_own and origin.lower() not in self._origins:
                message = f"pages of {origin!r} may not ask this server; --allow-origin adds an origin"
                raise ApiError(403, "wrong_origin", message, value=origin)
        elif headers.get("sec-fetch-site") in ("cross-site", "same-site") and not _follows_link(method, headers):
            raise ApiError(403, "wrong_origin", "pages of other servers may not ask this server")

    async def _read(self, headers: Headers, receive: Receive) -> Receive:
        """Returns what gives the body, which is read here; raises an error if it is too large or too slow."""
        most = self._settings.most_body_bytes
        if "content-length" in headers and "transfer-encoding" in headers:
            raise ApiError(400, "bad_request", "a request has one of Content-Length and Transfer-Encoding, not both")
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > most:
            raise _too_large(most)
        if length == "0" and "transfer-encoding" not in headers:
            return receive
        try:
            body = await asyncio.wait_for(_body(receive, most), self._settings.body_s)
        except TimeoutError:
            raise ApiError(408, "too_slow", f"the body took more than {self._settings.body_s:g} s") from None
        return _replay(body, receive)

    def _send_with_headers(self, send: Send, allowed: str | None) -> Callable[[Message], Awaitable[None]]:
        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if allowed:
                    headers["Access-Control-Allow-Origin"] = allowed
                    headers["Access-Control-Allow-Headers"] = "content-type"
                    headers["Access-Control-Allow-Methods"] = "GET, POST"
                    headers["Cross-Origin-Resource-Policy"] = "cross-origin"
                    headers.add_vary_header("Origin")
            await send(message)

        return answer


def _follows_link(method: str, headers: Headers) -> bool:
    """Returns whether a person has followed a link of another page, which cannot see the answer."""
    return method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"


async def _body(receive: Receive, most: int) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ApiError(400, "cut_short", "the request's body is cut short")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return b"".join(parts)


def _too_large(most: int) -> ApiError:
    return ApiError(413, "too_large", f"the request's body is larger than {most} bytes")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Returns a `receive` that gives the body first."""
    is_given = False

    async def replayed() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
