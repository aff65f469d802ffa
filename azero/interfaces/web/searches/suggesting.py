"""A suggestion: a search that is short enough to be one slice."""

from concurrent.futures import Future
from dataclasses import dataclass

from azero.arena.agents.levels import Level
from azero.arena.agents.suggestion import Suggestion
from azero.games import State
from azero.interfaces.web.searches.loaded import Loaded
from azero.interfaces.web.searches.turns import Turn


@dataclass(frozen=True)
class Wish:
    """How to search.

    Attributes:
      simulations: the most; None: by the agent's own limit.
      seconds: the most; None: no limit.
      seed: of all random choices.
      level: at which the agent plays, by its own limits; None: it does its best.
    """

    simulations: int | None
    seconds: float | None
    seed: int = 0
    level: Level | None = None


class SuggestionTurn(Turn):
    """Searches a position once. `answer` is the suggestion, or the error."""

    def __init__(self, client: str, loaded: Loaded, state: State, wish: Wish):
        super().__init__(client)
        self._loaded, self._state, self._wish = loaded, state, wish
        self.answer: Future[Suggestion] = Future()

    def take(self) -> bool:
        if not self.answer.set_running_or_notify_cancel():
            return False
        try:
            self.answer.set_result(self._suggest())
        except BaseException as error:  # the one who waits gets it
            self.answer.set_exception(error)
        return False

    def _suggest(self) -> Suggestion:
        wish = self._wish
        if wish.level is not None:
            return self._loaded.player(wish.level).suggest_by(self._state, wish.seed)
        agent = self._loaded.made.result()
        agent.seed = wish.seed
        return agent.suggest(self._state, wish.simulations, wish.seconds)
