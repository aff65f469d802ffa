"""`Searches`: suggestions and analyses for many clients at once, within the limits of the settings."""

import asyncio
import threading
from collections.abc import Callable

from azero.arena.agents.suggestion import Suggestion
from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.offered.agents import OfferedAgent
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.loaded import Loaded, LoadedAgents
from azero.interfaces.web.searches.suggesting import SuggestionTurn, Wish
from azero.interfaces.web.searches.turns import Turns
from azero.interfaces.web.settings import ServeSettings


class Searches:
    """The searches of a server.

    Attributes:
      agents: the agents that are loaded.
      turns: the queue of the machine.
    """

    def __init__(self, settings: ServeSettings):
        self.settings = settings
        self.turns = Turns("search")
        self.agents = LoadedAgents(settings, self.turns)
        self._num_running = 0
        self._lock = threading.Lock()
        self._stops: set[Callable[[], None]] = set()

    def enter(self) -> None:
        """Counts a search; raises ApiError if there are too many. `leave` counts it no longer."""
        with self._lock:
            if self._num_running >= self.settings.most_searches:
                most = self.settings.most_searches
                raise ApiError(429, "busy", f"{most} searches are running already; try again later", retry_s=2)
            self._num_running += 1

    def leave(self) -> None:
        """Counts a search no longer."""
        with self._lock:
            self._num_running -= 1

    async def suggest(self, client: str, offered: OfferedAgent, position: Position, wish: Wish) -> Suggestion:
        """Returns an agent's suggestion for a position; raises BadInput or ApiError."""
        self.enter()
        try:
            loaded = self.agents.use(offered, position.offered)
            try:
                return await self._suggest(client, loaded, position, wish)
            finally:
                self.agents.leave(loaded)
        finally:
            self.leave()

    async def _suggest(self, client: str, loaded: Loaded, position: Position, wish: Wish) -> Suggestion:
        await asyncio.shield(asyncio.wrap_future(loaded.made))
        turn = SuggestionTurn(client, loaded, position.state.clone(), wish)
        loaded.turns.add(turn)
        return await asyncio.wrap_future(turn.answer)

    def close(self) -> None:
        """Ends all searches."""
        for stop in list(self._stops):
            stop()
        self.agents.close()
        self.turns.close()
