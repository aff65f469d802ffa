"""A ticket: the right to search, and the agent that is used. It is given back once, however the search ends."""

import threading

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
    """Gives out a limited number of tickets.

    Attributes:
      num_given: tickets that have not been given back.
    """

    def __init__(self, agents: LoadedAgents, most: int):
        self._agents, self._most = agents, most
        self.num_given = 0
        self._lock = threading.Lock()

    def give(self, offered: OfferedAgent, game: OfferedGame) -> Ticket:
        """Returns a ticket for an agent, which may have to load first; raises ApiError if there is none left."""
        with self._lock:
            if self.num_given >= self._most:
                message = f"all places for searches are taken, {self._most} in all; try again later"
                raise ApiError(429, "busy", message, retry_s=2)
            loaded = self._agents.use(offered, game)
            self.num_given += 1
        return Ticket(self, loaded)

    def take_back(self, ticket: Ticket) -> None:
        """Takes a ticket back; see `Ticket.give_back`."""
        with self._lock:
            self.num_given -= 1
        self._agents.leave(ticket.loaded)
