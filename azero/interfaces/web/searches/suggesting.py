"""A suggestion: a search that is short enough to be one slice."""

from concurrent.futures import Future
from dataclasses import dataclass

from azero.arena.agents.suggestion import Suggestion
from azero.games import State
from azero.interfaces.web.searches.loaded import Loaded
from azero.interfaces.web.searches.turns import Turn


@dataclass(frozen=True)
class Wish:
    """How long to search; None: by the agent's own limit."""

    simulations: int | None
    seconds: float | None
    seed: int = 0


class SuggestionTurn(Turn):
    """Searches a position once. `answer` is the suggestion, or the error."""

    def __init__(self, client: str, loaded: Loaded, state: State, wish: Wish):
        super().__init__(client)
        self._loaded, self._state, self._wish = loaded, state, wish
        self.answer: Future[Suggestion] = Future()

    def take(self, is_alone: bool) -> bool:
        if not self.answer.set_running_or_notify_cancel():
            return False
        try:
            agent = self._loaded.made.result()
            agent.seed = self._wish.seed
            self.answer.set_result(agent.suggest(self._state, self._wish.simulations, self._wish.seconds))
        except BaseException as error:  # the one who waits gets it
            self.answer.set_exception(error)
        return False
