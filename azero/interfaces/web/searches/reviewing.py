"""A review as a stream: a thread goes through the game, and its searches take turns with all others."""

from collections.abc import Callable

from azero.arena.agents.suggestion import Suggestion
from azero.arena.reviews.review import MoveReview, Reviewer
from azero.games import State
from azero.interfaces.web.errors import as_api_error
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.analysing import SEARCHING
from azero.interfaces.web.searches.loaded import Loaded
from azero.interfaces.web.searches.outbox import Outbox
from azero.interfaces.web.searches.suggesting import SuggestionTurn, Wish
from azero.records import Record


class _Gone(Exception):
    """The client has gone."""


class _InTurns:
    """An agent whose suggestions take turns. It is what a `Reviewer` needs."""

    def __init__(self, client: str, loaded: Loaded, seconds: float | None, is_stopped: Callable[[], bool]):
        agent = loaded.made.result()
        self.name, self.game, self.judges_positions = agent.name, agent.game, agent.judges_positions
        self._client, self._loaded, self._seconds, self._is_stopped = client, loaded, seconds, is_stopped

    def suggest(self, state: State, simulations: int | None = None) -> Suggestion:
        """Returns the agent's suggestion; raises _Gone if nobody waits for it."""
        if self._is_stopped():
            raise _Gone
        turn = SuggestionTurn(self._client, self._loaded, state.clone(), Wish(simulations, self._seconds))
        self._loaded.turns.add(turn)
        return turn.answer.result()


class Review:
    """The review of a game."""

    def __init__(self, client: str, loaded: Loaded, position: Position, wish: Wish, outbox: Outbox):
        self._client, self._loaded, self._position = client, loaded, position
        self._wish, self._outbox = wish, outbox
        self._num_reviewed = 0

    def run(self) -> None:
        """Reviews the game; the outbox gets each move's review, and at the end the whole. It raises nothing."""
        position = self._position
        try:
            self._outbox.put("stage", SEARCHING)
            agent = _InTurns(self._client, self._loaded, self._wish.seconds, lambda: self._outbox.is_over)
            actions = position.state.history()[len(position.start.history()) :]
            review = Reviewer(agent, self._wish.simulations).review(Record.of_game(position.start, actions), self._tell)
            self._outbox.put("done", {**review.to_json(), "values": review.values}, is_last=True)
        except _Gone:
            pass
        except BaseException as error:  # the stream gets it
            self._outbox.put("error", as_api_error(error).to_json(), is_last=True)

    def _tell(self, move: MoveReview) -> None:
        self._outbox.put("update", {"ply": self._num_reviewed, **vars(move)})
        self._num_reviewed += 1
