"""`Searches`: suggestions, analyses and reviews for many clients at once, within the limits of the settings."""

import asyncio
from collections.abc import Callable

from azero.arena.agents.suggestion import Suggestion
from azero.interfaces.web.errors import ApiError, as_api_error
from azero.interfaces.web.offered.agents import OfferedAgent
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.analysing import AnalysisTurn, Bounds
from azero.interfaces.web.searches.loaded import Loaded, LoadedAgents
from azero.interfaces.web.searches.outbox import Outbox
from azero.interfaces.web.searches.reviewing import ReviewLine, ReviewTurn
from azero.interfaces.web.searches.stream import EventStream
from azero.interfaces.web.searches.suggesting import SuggestionTurn, Wish
from azero.interfaces.web.searches.ticket import Ticket, TicketOffice
from azero.interfaces.web.searches.turns import Turns
from azero.interfaces.web.settings import ServeSettings

_STAGE_S = 0.5  # from one report of a stage to the next

QUEUED = {"stage": "queued", "text": "Waiting for its turn", "elapsed_s": 0.0, "expected_s": None, "share": None}
"""The stage of a search that has not begun."""


class Searches:
    """The searches of a server.

    Attributes:
      agents: the agents that are loaded.
      turns: the queue of the machine.
      office: limits the number of searches.
    """

    def __init__(self, settings: ServeSettings):
        self._settings = settings
        self.turns = Turns("search")
        self.agents = LoadedAgents(settings, self.turns)
        self.office = TicketOffice(self.agents, settings.most_searches)
        self._reviews = ReviewLine(settings.most_reviews)
        self._outboxes: set[Outbox] = set()
        self._suggesting: set[asyncio.Future] = set()  # the tasks that wait for suggestions
        self._is_closed = False

    async def suggest(self, client: str, offered: OfferedAgent, position: Position, wish: Wish) -> Suggestion:
        """Returns an agent's suggestion for a position; raises BadInput or ApiError. It can be cancelled."""
        ticket = self.office.give(offered, position.offered)
        turn = SuggestionTurn(client, ticket.loaded, position.state.clone(), wish)
        answer = asyncio.ensure_future(self._answer(ticket.loaded, turn))
        self._suggesting.add(answer)
        try:
            return await answer
        except asyncio.CancelledError:
            if self._is_closed:
                raise ApiError(503, "stopped", "the server has been stopped") from None
            raise
        finally:
            self._suggesting.discard(answer)
            turn.stop()
            ticket.give_back()

    async def _answer(self, loaded: Loaded, turn: SuggestionTurn) -> Suggestion:
        await asyncio.shield(asyncio.wrap_future(loaded.made))
        loaded.turns.add(turn)
        return await asyncio.wrap_future(turn.answer)

    def analyse(self, client: str, offered: OfferedAgent, position: Position, bounds: Bounds) -> EventStream:
        """Returns the stream of an analysis; raises ApiError if there is no room for it."""
        ticket = self.office.give(offered, position.offered)
        outbox = Outbox(asyncio.get_running_loop())
        turn = AnalysisTurn(client, ticket.loaded, position, bounds, outbox, ticket.give_back)
        return self._stream(ticket, outbox, lambda: ticket.loaded.turns.add(turn), turn.stop)

    def review(self, client: str, offered: OfferedAgent, position: Position, wish: Wish) -> EventStream:
        """Returns the stream of a review; raises ApiError if there is no room for it."""
        ticket = self.office.give(offered, position.offered)
        outbox = Outbox(asyncio.get_running_loop(), keeps_all=True)

        def end() -> None:
            ticket.give_back()
            self._reviews.leave()

        turn = ReviewTurn(client, ticket.loaded, position, wish, outbox, end)

        def begin() -> None:
            ticket.loaded.turns.add(turn)

        def stop() -> None:
            turn.stop()
            if self._reviews.give_up(begin):
                ticket.give_back()

        return self._stream(ticket, outbox, lambda: self._reviews.enter(begin), stop)

    def _stream(
        self, ticket: Ticket, outbox: Outbox, begin: Callable[[], object], stop: Callable[[], object]
    ) -> EventStream:
        """Returns a stream that loads the agent, then begins a search, which gives the ticket back."""
        feeding = asyncio.create_task(self._feed(ticket, outbox, begin))
        self._outboxes.add(outbox)

        def end() -> None:
            feeding.cancel()
            stop()
            self._outboxes.discard(outbox)

        return EventStream(outbox, end, self._settings.slow_reader_s)

    async def _feed(self, ticket: Ticket, outbox: Outbox, begin: Callable[[], object]) -> None:
        try:
            await _loading(ticket.loaded, outbox)
            outbox.put("stage", QUEUED)
            begin()
        except BaseException as error:
            ticket.give_back()
            if isinstance(error, asyncio.CancelledError):
                raise
            outbox.put("error", as_api_error(error).to_json(), is_last=True)

    def close(self) -> None:
        """Ends all searches: streams with a last event, suggestions with an error. Agents close in the background."""
        for outbox in list(self._outboxes):
            outbox.put("done", {"reason": "stopped"}, is_last=True)
        self._is_closed = True
        for task in list(self._suggesting):
            task.get_loop().call_soon_threadsafe(task.cancel)
        self.turns.close()
        self.agents.close()


async def _loading(loaded: Loaded, outbox: Outbox) -> None:
    """Waits until an agent is loaded, and reports the stages; raises the error if it cannot be loaded."""
    made = asyncio.wrap_future(loaded.made)
    made.add_done_callback(lambda each: each.cancelled() or each.exception())  # somebody has looked at it
    while not made.done():
        outbox.put("stage", loaded.stage())
        await asyncio.wait([made], timeout=_STAGE_S)
    made.result()
