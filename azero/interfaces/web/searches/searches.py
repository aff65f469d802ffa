"""`Searches`: suggestions, analyses and reviews for many clients at once, within the limits of the settings."""

import asyncio

from azero.arena.agents.suggestion import Suggestion
from azero.interfaces.web.errors import ApiError, as_api_error
from azero.interfaces.web.offered.agents import OfferedAgent
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.jobs import AnalysisJob, AnalysisLimits, ReviewJob, SearchRequest, SuggestionJob
from azero.interfaces.web.searches.loaded import Claim, Loaded, LoadedAgents
from azero.interfaces.web.searches.queue import Job, JobQueue
from azero.interfaces.web.searches.stream import EventStream, Outbox
from azero.interfaces.web.settings import ServeSettings

_STAGE_S = 0.5  # from one report of a stage to the next

QUEUED = {"stage": "queued", "text": "Waiting for its turn", "elapsed_s": 0.0, "expected_s": None, "share": None}
"""The stage of a search that has not begun."""


class Searches:
    """The searches of a server.

    Attributes:
      agents: the agents that are loaded.
      queue: the queue of the machine.
    """

    def __init__(self, settings: ServeSettings):
        self._settings = settings
        self.queue = JobQueue("search")
        self.agents = LoadedAgents(settings, self.queue)
        self._outboxes: set[Outbox] = set()
        self._suggesting: set[asyncio.Future] = set()  # the tasks that wait for suggestions
        self._is_closed = False

    async def suggest(self, client: str, agent: OfferedAgent, position: Position, request: SearchRequest) -> Suggestion:
        """Returns an agent's suggestion for a position; raises BadInput or ApiError. It can be cancelled."""
        claim = self.agents.claim(agent, position.game)
        job = SuggestionJob(client, claim.loaded, position.state.clone(), request)
        answer = asyncio.ensure_future(self._answer(claim.loaded, job))
        self._suggesting.add(answer)
        try:
            return await answer
        except asyncio.CancelledError:
            if self._is_closed:
                raise ApiError(503, "stopped", "the server has been stopped") from None
            raise
        finally:
            self._suggesting.discard(answer)
            job.stop()
            claim.release()

    async def _answer(self, loaded: Loaded, job: SuggestionJob) -> Suggestion:
        made = asyncio.wrap_future(loaded.made)
        made.add_done_callback(lambda made: made.cancelled() or made.exception())  # the client may have gone
        await asyncio.shield(made)
        loaded.queue.add(job)
        return await asyncio.wrap_future(job.answer)

    def analyse(self, client: str, agent: OfferedAgent, position: Position, limits: AnalysisLimits) -> EventStream:
        """Returns the stream of an analysis; raises ApiError if there is no room for it."""
        claim = self.agents.claim(agent, position.game)
        outbox = Outbox(asyncio.get_running_loop())
        job = AnalysisJob(client, claim.loaded, position, limits, outbox, claim.release)
        return self._stream(claim, outbox, job)

    def review(self, client: str, agent: OfferedAgent, position: Position, request: SearchRequest) -> EventStream:
        """Returns the stream of a review; raises ApiError if there is no room for it."""
        claim = self.agents.claim(agent, position.game)
        outbox = Outbox(asyncio.get_running_loop(), keeps_all=True)
        job = ReviewJob(client, claim.loaded, position, request, outbox, claim.release)
        return self._stream(claim, outbox, job)

    def _stream(self, claim: Claim, outbox: Outbox, job: Job) -> EventStream:
        """Returns a stream that loads the agent, then begins a search, which gives the claim back."""
        feeding = asyncio.create_task(self._feed(claim, outbox, job))
        self._outboxes.add(outbox)

        def end() -> None:
            feeding.cancel()
            job.stop()
            self._outboxes.discard(outbox)

        return EventStream(outbox, end, self._settings.slow_reader_s)

    async def _feed(self, claim: Claim, outbox: Outbox, job: Job) -> None:
        try:
            await _loading(claim.loaded, outbox)
            outbox.put("stage", QUEUED)
            claim.loaded.queue.add(job)
        except BaseException as error:
            claim.release()
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
        self.queue.close()
        self.agents.close()


async def _loading(loaded: Loaded, outbox: Outbox) -> None:
    """Waits until an agent is loaded, and reports the stages; raises the error if it cannot be loaded."""
    made = asyncio.wrap_future(loaded.made)
    made.add_done_callback(lambda each: each.cancelled() or each.exception())  # somebody has looked at it
    while not made.done():
        outbox.put("stage", loaded.stage())
        await asyncio.wait([made], timeout=_STAGE_S)
    made.result()
