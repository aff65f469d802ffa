"""Who plays an agent's games in a match: many games at the same time, each in a slot."""

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from azero.arena.agents.suggestion import RESIGN
from azero.compiler.rng import derive_seed
from azero.games import State

if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent


class Thought(NamedTuple):
    """What an agent thought of a position in which it has chosen a move.

    Attributes:
      value: in [-1, 1], for this agent; None if it does not judge positions.
      simulations: of this search; None without one.
      seconds: of this search; None if it ran together with others.
    """

    value: float | None
    simulations: int | None
    seconds: float | None = None


class MatchPlayer:
    """Plays one side of games: `start` begins them, `advance` makes a move of either side, `choose` picks a move.

    This player asks `agent.suggest` about one slot after another. Agents that search slots together, or whose moves
    depend on the number of the game, have other players.

    Attributes:
      agent: whose moves it plays. What they cost is added to the agent's counts.
      states: the position in each slot.
      plays_side_by_side: whether it plays all games of a match at the same time, or one after another.
    """

    plays_side_by_side = True

    def __init__(self, agent: "Agent"):
        self.agent = agent
        self.states: list[State] = []
        self._first_game = 0
        self._thoughts: dict[int, Thought | None] = {}  # by slot

    @property
    def most_slots(self) -> int:
        """How many games at the same time its memory has room for."""
        return sys.maxsize

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        """Begins games from these positions, one per slot.

        Args:
          num_slots: number of games that share its memory: as many as there are positions, or more.
          first_game: the number of slot 0's game in the match.
        """
        self.states = [state.clone() for state in states]
        self._first_game = first_game

    def seed_of(self, slot: int) -> int:
        """Returns the seed of the game in a slot, by the agent's seed and the number of the game."""
        return derive_seed(self.agent.seed, "game", self._first_game + slot)

    def advance(self, slot: int, action: int) -> None:
        """Makes a move of either side in a slot."""
        self.states[slot].apply_action(action)

    def choose(self, slots: Sequence[int]) -> list[int]:
        """Returns the action to play, or RESIGN, in each of these slots. In all of them it is this player's turn."""
        begin = time.perf_counter()
        num_moves = self._count_moves(slots)
        actions = self._choose(slots)
        self.agent.seconds += time.perf_counter() - begin
        self.agent.moves += num_moves
        return actions

    def _count_moves(self, slots: Sequence[int]) -> int:
        """Returns in how many of the slots a new move begins; in the others, an action continues a chosen turn."""
        return len(slots)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        return [self._choose_in(slot) for slot in slots]

    def _choose_in(self, slot: int) -> int:
        found = self.agent.suggest(self.states[slot])
        seconds = None if self.plays_side_by_side else found.elapsed_s
        return self._note(slot, found.action, Thought(found.value, found.simulations, seconds))

    def _note(self, slot: int, action: int, thought: Thought) -> int:
        """Notes a choice and what it has cost; returns the action, or RESIGN."""
        self.agent.simulations += thought.simulations or 0
        self._thoughts[slot] = thought if self.agent.judges_positions else None
        return RESIGN if thought.value is not None and self.agent.resigns(thought.value) else action

    def thought(self, slot: int) -> Thought | None:
        """Returns what it thought when it chose the last action in a slot; None if it has no opinion."""
        return self._thoughts.get(slot)
