"""The files of the page. Nothing outside their folder is read, and no file is served stale by a newer server."""

from pathlib import Path

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

PAGE = Path(__file__).parent / "page"
"""The folder of the page."""


class PageFiles(StaticFiles):
    """The page's files. A browser asks each time whether its copy is still right, by the file's tag."""

    def __init__(self) -> None:
        super().__init__(directory=PAGE, html=True, check_dir=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [each for each in scope["headers"] if each[0] != b"range"]  # the files are small
        await super().__call__({**scope, "headers": headers}, receive, send)

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update({"Cache-Control": "no-cache", "Accept-Ranges": "none"})
        return response
