"""Thinking on the opponent's time."""

import threading

from azero.arena.agents.agent import Agent
from azero.games import State

_INTERVAL_S = 10.0  # of reports, which nobody reads


class Ponderer:
    """Lets an agent search a position in a thread until `stop`. Its trees serve its next move.

    An agent that cannot interrupt its search does nothing meanwhile.
    """

    def __init__(self, agent: Agent, state: State):
        self._analysis = None
        if agent.can_ponder and not state.is_terminal():
            self._analysis = agent.analyse(state, interval=_INTERVAL_S)
            self._thread = threading.Thread(target=lambda: list(self._analysis or ()), daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the search. Returns within about 50 ms."""
        if self._analysis is not None:
            self._analysis.close()
            self._thread.join()
