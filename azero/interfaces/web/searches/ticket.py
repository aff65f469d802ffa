"""A ticket: the right to search, and the agent that is used. It is given back once, however the search ends."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from azero.interfaces.web.errors import ApiError
from azero.interfaces.web.offered.agents import OfferedAgent
from azero.interfaces.web.offered.games import OfferedGame
from azero.interfaces.web.searches.loaded import Loaded, LoadedAgents


class Ticket:
    """The right to search with an agent, until `give_back`."""

    def __init__(self, office: "TicketOffice", loaded: Loaded):
        self.loaded = loaded
        self._office: TicketOffice | None = office

    def give_back(self) -> None:
        """Gives the right back. Any thread may call this, more than once."""
        office, self._office = self._office, None
        if office is not None:
            office.take_back(self)


class TicketOffice:
    """Gives out a limited number of places for searches.

    Attributes:
      num_given: places that are taken.
    """

    def __init__(self, agents: LoadedAgents, most: int):
        self._agents, self._most = agents, most
        self.num_given = 0
        self._lock = threading.Lock()

    def give(self, offered: OfferedAgent, game: OfferedGame) -> Ticket:
        """Returns a ticket for an agent, which may have to load first; raises ApiError if there is none left."""
        with self._lock:
            self._check_room()
            loaded = self._agents.use(offered, game)
            self.num_given += 1
        return Ticket(self, loaded)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Takes a place for a search without an agent, which lasts for the block; raises ApiError if none is left."""
        with self._lock:
            self._check_room()
            self.num_given += 1
        try:
            yield
        finally:
            with self._lock:
                self.num_given -= 1

    def take_back(self, ticket: Ticket) -> None:
        """Takes a ticket back; see `Ticket.give_back`."""
        with self._lock:
            self.num_given -= 1
        self._agents.leave(ticket.loaded)

    def _check_room(self) -> None:
        if self.num_given >= self._most:
            message = f"all places for searches are taken, {self._most} in all; try again later"
            raise ApiError(429, "busy", message, retry_s=2)
