"""Who plays an agent's games: many of a match at the same time, each in a slot, or one on a clock."""

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from azero.arena.agents.clock import Clock
from azero.arena.agents.suggestion import RESIGN, Suggestion, check_state, resigned
from azero.arena.agents.time_management import TimeManager
from azero.compiler.rng import derive_seed
from azero.games import State
from azero.mcts.rollouts.playing import plies_to_end

if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent


_LEAST_S = 0.001  # for a move, however little time is left


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


class GamePlayer:
    """Plays one side of games.

    In the slots of a match, `start` begins games, `advance` makes a move of either side, and `choose` picks a move.
    On a clock, `start_clock` begins a game, and `play` picks the move of a position.

    This player asks `agent.suggest` about one slot after another. Agents that search slots together, or whose moves
    depend on the number of the game, have other players.

    Attributes:
      agent: whose moves it plays.
      states: the position in each slot.
      seconds: total time of the moves that it has played.
      simulations: of these moves.
      moves: their number; a whole turn chosen at once is one.
      full_trees: the number of moves at which a search tree had no room to grow.
      plays_side_by_side: whether it plays all games of a match at the same time, or one after another.
      goes_on: asked again and again while a search with a tree runs on a clock, in its thread; False ends the search.
        None: nobody ends it.
    """

    plays_side_by_side = True

    def __init__(self, agent: "Agent"):
        self.agent = agent
        self.states: list[State] = []
        self.seconds = 0.0
        self.simulations = 0
        self.moves = 0
        self.full_trees = 0
        self.time_manager = TimeManager()
        self.goes_on: Callable[[], bool] | None = None
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
        self.seconds += time.perf_counter() - begin
        self.moves += num_moves
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
        self.simulations += thought.simulations or 0
        self._thoughts[slot] = thought if self.agent.judges_positions else None
        return RESIGN if thought.value is not None and self.agent.resigns(thought.value) else action

    def thought(self, slot: int) -> Thought | None:
        """Returns what it thought when it chose the last action in a slot; None if it has no opinion."""
        return self._thoughts.get(slot)

    def start_clock(self) -> None:
        """Begins a game on a clock. It compiles and opens all that the moves need, outside the measured time."""
        self.time_manager.begin_game()
        plies_to_end(self.agent.game.new_initial_state())

    def play(self, state: State, clock: Clock) -> Suggestion:
        """Returns the move to play within the time of a clock, or a suggestion to resign."""
        check_state(self.agent.game, state)
        begin = time.perf_counter()
        self.time_manager.look_at(clock)
        suggestion = self._play_on_clock(state, clock)
        self.seconds += time.perf_counter() - begin
        self.simulations += suggestion.simulations
        self.moves += 1
        return resigned(suggestion) if self.agent.resigns(suggestion.value) else suggestion

    def _play_on_clock(self, state: State, clock: Clock) -> Suggestion:
        share, limit = self.time_manager.share(state, clock), self.agent.limit.beside_clock()
        begin = time.perf_counter()
        planned_s = _LEAST_S if len(state.legal_actions()) == 1 else max(share.planned_s, _LEAST_S)
        meant_s = min(planned_s, limit.seconds or planned_s)
        suggestion = self.agent.suggest(state, limit.simulations, meant_s)
        self.time_manager.note(share, time.perf_counter() - begin, meant_s)
        return suggestion
