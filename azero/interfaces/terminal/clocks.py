"""The clocks of a game in the terminal."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from azero.arena.agents.agent import Agent
from azero.arena.agents.analysis import Ponderer
from azero.arena.agents.clock import Clock, TimeControl
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
        self._thought_s = 0.0  # by the person, since the last move

    @contextmanager
    def persons_turn(self, agent: Agent, state: State) -> Iterator[None]:
        """The person's clock runs within the block. A turn may have several such blocks."""
        begin = time.perf_counter()
        ponderer = Ponderer(agent, state) if self._is_pondering else None
        try:
            yield
        finally:
            self._thought_s += time.perf_counter() - begin
            if ponderer:
                ponderer.stop()

    def persons_left_s(self) -> float:
        """Returns the seconds that the person has left for this move."""
        return self.person.left_s - self._thought_s

    def is_persons_time_over(self) -> bool:
        """Returns whether the person has thought for too long."""
        return self.persons_left_s() < 0

    def person_moved(self, before: State, after: State) -> None:
        """Takes the time of the person's move from the clock."""
        self.person.spend(self._thought_s, _is_turn_over(before, after))
        self._thought_s = 0.0

    def turn_taken_back(self) -> None:
        """Takes the time of the person's turn so far from the clock. Both keep what they have used."""
        self.person.spend(self._thought_s, False)
        self._thought_s = 0.0

    def agents_move(self, agent: Agent, state: State) -> Suggestion:
        """Returns the agent's move, which takes time from its clock."""
        begin = time.perf_counter()
        suggestion = agent.player.play(state, self.agent)
        seconds, after = time.perf_counter() - begin, state.clone()
        for action in suggestion.actions if suggestion.moves else []:
            after.apply_action(action)
        self.agent.spend(seconds, _is_turn_over(state, after))
        return suggestion

    def __str__(self) -> str:
        return f"your time {self.person}, the agent's {self.agent}"


def _is_turn_over(before: State, after: State) -> bool:
    return after.is_terminal() or after.current_player() != before.current_player()
