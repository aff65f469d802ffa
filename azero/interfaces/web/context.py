"""What every route needs: what is offered, the settings, and the searches."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from azero.interfaces.web.models import PositionAsked
from azero.interfaces.web.offered.offered import Offered
from azero.interfaces.web.positions import Position, position_of
from azero.interfaces.web.searches.searches import Searches
from azero.interfaces.web.settings import ServeSettings


@dataclass(frozen=True)
class Context:
    """A server's parts."""

    offered: Offered
    settings: ServeSettings
    searches: Searches

    def position(self, asked: PositionAsked) -> Position:
        """Returns the position that a request names; raises ApiError."""
        return position_of(self.offered.game(asked.game), asked, self.settings.most_plies)

    async def position_of(self, asked: PositionAsked) -> Position:
        """As `position`, for routes that wait: another thread plays the moves."""
        return await run_in_threadpool(self.position, asked)


def _context_of(request: Request) -> Context:
    return request.app.state.context


InContext = Annotated[Context, Depends(_context_of)]
"""The type of a route's argument that is the server's parts."""
