"""`make_app`: the server as an ASGI application, with the files of the page."""

from pathlib import Path

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

import azero
from azero.interfaces.web.context import Context
from azero.interfaces.web.errors import add_handlers
from azero.interfaces.web.guard import Guard
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.routes import agents, games, learn, records, runs, searches
from azero.interfaces.web.runs.nets import Nets
from azero.interfaces.web.searches.searches import Searches
from azero.interfaces.web.settings import ServeSettings

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


API = "/api/v1"
SILENT: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""FastAPI would otherwise send measurements to a server that environment variables name."""

ROUTERS = games.router, agents.router, searches.router, records.router, runs.router, learn.router


def make_app(catalogue: Catalogue, settings: ServeSettings) -> FastAPI:
    """Returns the application. `app.state.context.searches.close()` ends its searches."""
    app = FastAPI(
        title="azero",
        version=azero.__version__,
        description="Games, positions, agents, searches and records of azero.",
        docs_url=None,  # these pages load scripts from another server
        redoc_url=None,
        redirect_slashes=False,  # a redirect is no JSON
        telemetry=SILENT,
    )
    app.state.context = Context(catalogue, settings, Searches(settings), Nets())
    add_handlers(app)
    for router in ROUTERS:
        app.include_router(router, prefix=API)
    app.router.default = PageFiles()
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(Guard, settings=settings)
    return app
