"""The clocks of a game in the terminal."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import Clock, TimeControl
from azero.arena.agents.pondering import Ponderer
from azero.arena.agents.suggestion import Suggestion
from azero.games import State


class Clocks:
    """The clocks of a person and an agent.

    Args:
      is_pondering: whether the agent thinks on the person's time.
    """

    def __init__(self, control: TimeControl, is_pondering: bool):
        self.person, self.agent = Clock(control), Clock(control)
        self._is_pondering = is_pondering

    @contextmanager
    def persons_turn(self, agent: Agent, state: State) -> Iterator[None]:
        """The person's clock runs within the block."""
        begin = time.perf_counter()
        ponderer = Ponderer(agent, state) if self._is_pondering else None
        try:
            yield
        finally:
            if ponderer:
                ponderer.stop()
            self.person.spend(time.perf_counter() - begin)

    def agents_move(self, agent: Agent, state: State) -> Suggestion:
        """Returns the agent's move, which takes time from its clock."""
        begin = time.perf_counter()
        suggestion = agent.play(state, self.agent)
        self.agent.spend(time.perf_counter() - begin)
        return suggestion

    def __str__(self) -> str:
        return f"your time {self.person}, the agent's {self.agent}"
