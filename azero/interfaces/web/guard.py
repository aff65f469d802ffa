"""Who may ask, and how much: checks of Host, Origin and the body's size, before any route is looked for."""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
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
"""The headers of every answer."""

CROSS_ORIGIN = {
    "Access-Control-Allow-Headers": "content-type",
    "Access-Control-Allow-Methods": "GET, POST",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""For pages of origins that the user allows."""


class Guard:
    """Answers requests that nobody may make, and adds the headers of security to all answers."""

    def __init__(self, app: ASGIApp, settings: ServeSettings):
        self._app, self._most = app, settings.most_body_bytes
        self._names = {name.lower() for name in (*LOOPBACK, settings.own_name, *settings.allow_hosts)}
        self._origins = {origin.lower().rstrip("/") for origin in settings.allow_origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin", "")
        has_begun, size = False, 0

        async def receive_few() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            self._check_size(size)
            return message

        async def answer(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                of_answer = MutableHeaders(scope=message)
                of_answer.update(HEADERS)
                if origin.lower() in self._origins:
                    of_answer.update(CROSS_ORIGIN | {"Access-Control-Allow-Origin": origin})
                    of_answer.add_vary_header("Origin")
            await send(message)

        try:
            self._check_host(headers)
            self._check_origin(scope["method"], headers)
            length = headers.get("content-length", "")
            self._check_size(int(length[:20]) if length.isdecimal() else 0)
            if scope["method"] == "OPTIONS" and origin:
                await Response(status_code=204)(scope, receive, answer)
            else:
                await self._app(scope, receive_few, answer)
        except Exception as error:  # an answer even to what nobody expected
            response = as_api_error(error).to_response()
            if has_begun:
                raise
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
            if origin.lower() not in (f"http://{host}", f"https://{host}", *self._origins):
                message = f"pages of {origin!r} may not ask this server; --allow-origin adds an origin"
                raise ApiError(403, "wrong_origin", message, value=origin)
        elif headers.get("sec-fetch-site") in ("cross-site", "same-site") and not _follows_link(method, headers):
            raise ApiError(403, "wrong_origin", "pages of other servers may not ask this server")

    def _check_size(self, size: int) -> None:
        """Raises an error if the request's body is too large. A route that reads it passes the error on."""
        if size > self._most:
            raise HTTPException(413, f"the request's body is larger than {self._most} bytes")


def _follows_link(method: str, headers: Headers) -> bool:
    """Returns whether a person has followed a link of another page, which cannot see the answer."""
    return method in ("GET", "HEAD") and headers.get("sec-fetch-mode") == "navigate"
