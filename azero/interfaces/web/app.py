"""`make_app`: the server as an ASGI application."""

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.middleware.gzip import GZipMiddleware

import azero
from azero.interfaces.web.context import Context
from azero.interfaces.web.errors import add_handlers
from azero.interfaces.web.files import PageFiles
from azero.interfaces.web.learn import routes as learn
from azero.interfaces.web.offered.offered import Offered
from azero.interfaces.web.routes import agents, games, records, searches
from azero.interfaces.web.runs import routes as runs
from azero.interfaces.web.runs.nets import Nets
from azero.interfaces.web.searches.searches import Searches
from azero.interfaces.web.security import Guard
from azero.interfaces.web.settings import ServeSettings

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


def make_app(offered: Offered, settings: ServeSettings) -> FastAPI:
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
    app.state.context = Context(offered, settings, Searches(settings))
    app.state.nets = Nets()
    add_handlers(app)
    for router in ROUTERS:
        app.include_router(router, prefix=API)
    app.router.default = PageFiles()
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(Guard, settings=settings)
    return app
