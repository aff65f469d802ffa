"""Runs the server until Ctrl-C: binds the address, says it, and ends what is open at the end."""

import asyncio
import socket
import sys
import threading
from typing import NoReturn

import uvicorn
from fastapi import FastAPI

from azero.compiler.elsewhere import compiling_elsewhere
from azero.errors import BadInput
from azero.interfaces.web.app import make_app
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.searches.loaded import process_for
from azero.interfaces.web.searches.searches import Searches
from azero.interfaces.web.settings import ServeSettings
from azero.system.console import say

_LAST_S = 1  # seconds for open connections at the end
_BACKLOG = 1024


def serve(catalogue: Catalogue, settings: ServeSettings, opens: bool = False) -> NoReturn:
    """Serves until a signal, then raises KeyboardInterrupt. The first line on stdout holds the address.

    Args:
      opens: whether to open the page in a browser.

    Raises BadInput if the address cannot be used.
    """
    listener = listen(settings)
    app = make_app(catalogue, settings)
    address = address_of(listener)
    print(f"azero serves {address}", flush=True)
    if not settings.is_local:
        where = f"it listens on {settings.host}, where other machines can use it, without a password"
        say(f"warning: {where}; --allow-host adds the name by which they address it")
    if opens:
        import webbrowser

        # In a thread of its own, since a text browser waits for the page.
        threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
    searches = app.state.context.searches
    searches.agents.ahead = catalogue.first_agents()
    with compiling_elsewhere(process_for(each.game for each in catalogue.games.values())):
        _Server(config_of(app), searches).run(sockets=[listener])
    raise KeyboardInterrupt  # after a Ctrl-C that a shell has switched off, as for `azero serve &`, uvicorn returns


def config_of(app: FastAPI) -> uvicorn.Config:
    """Returns how uvicorn runs the application."""
    return uvicorn.Config(
        app,
        ws="none",
        loop="asyncio",
        log_level="critical",  # else it prints a trace for each answer that a client or Ctrl-C has broken off
        access_log=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=_LAST_S,
        backlog=_BACKLOG,
    )


def listen(settings: ServeSettings) -> socket.socket:
    """Returns a socket that listens; raises BadInput if the address is in use or is none."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if not settings.host:
            raise OSError("the host is empty")
        listener.bind((settings.host, settings.port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError, TypeError, UnicodeError) as error:  # the last two: the host is no text of a name
        listener.close()
        reason = getattr(error, "strerror", None) or str(error)
        where = f"{settings.host}:{settings.port}"
        raise BadInput(f"cannot listen on {where}: {reason}; --port 0 takes a free port") from None
    return listener


def address_of(listener: socket.socket) -> str:
    """Returns the address of a server, for a browser on this machine."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class _Server(uvicorn.Server):
    """Uvicorn's server. After a signal, searches and streams end at once. At the end agents are closed.

    A lifespan would end them only after uvicorn has waited `_LAST_S` for their connections and has broken them off: an
    open stream would lack its last event, and the end would take a second longer.
    """

    def __init__(self, config: uvicorn.Config, searches: Searches):
        super().__init__(config)
        self._searches = searches

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._searches.close()
        await super().shutdown(sockets)
        await asyncio.to_thread(self._searches.agents.wait)
