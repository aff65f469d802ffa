"""What every route needs: what is offered, the settings, the searches, and who asks."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive

from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.models import PositionAsked
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.positions import Position, position_of
from azero.interfaces.web.runs.nets import Nets
from azero.interfaces.web.searches.searches import Searches
from azero.interfaces.web.settings import ServeSettings


@dataclass(frozen=True)
class Context:
    """A server's parts."""

    catalogue: Catalogue
    settings: ServeSettings
    searches: Searches
    nets: Nets

    def position(self, asked: PositionAsked) -> Position:
        """Returns the position that a request names; raises ApiError."""
        return position_of(self.catalogue.game(asked.game), asked, self.settings.most_plies)

    async def position_soon(self, asked: PositionAsked) -> Position:
        """As `position`, for routes that wait: another thread plays the moves."""
        return await run_in_threadpool(self.position, asked)


def _context_of(request: Request) -> Context:
    return request.app.state.context


InContext = Annotated[Context, Depends(_context_of)]
"""The type of a route's argument that is the server's parts."""


Result = TypeVar("Result")


def client_of(request: Request) -> str:
    """Returns what distinguishes a client from others: its address."""
    return request.client.host if request.client else ""


async def unless_gone(request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Returns the result of a request's work. If the client hangs up before, cancels the work and raises ApiError."""
    working, leaving = asyncio.create_task(work), asyncio.create_task(_left(request.receive))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ApiError(400, "gone", "the client has hung up")
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
