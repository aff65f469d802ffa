"""Agents play matches and give suggestions. They play many games at the same time, each in a slot."""

import copy
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from azero.arena.agents.analysis import MEMORY_MIB, UNLIMITED, Analysis, Bounds, SingleReport, bounds_of
from azero.arena.agents.clock import Clock
from azero.arena.agents.suggestion import Move, Suggestion, Thought, resigned
from azero.arena.agents.time_management import TimeManager
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import Game, State
from azero.mcts.rollouts.playing import plies_to_end
from azero.mcts.search.analysis import SearchTree
from azero.nets.runtimes.session import Heads
from azero.system.threads import Slices

_LEAST_S = 0.001  # for a move, however little time is left


@dataclass(frozen=True)
class Limit:
    """When a search ends: after this number of simulations or seconds, whichever comes first.

    Nobody has asked for a limit that `is_default`, so a clock replaces it. Other limits hold beside a clock.
    """

    simulations: int = UNLIMITED
    seconds: float | None = None
    is_default: bool = False

    def __post_init__(self) -> None:
        if self.simulations <= 0:
            raise BadInput(f"simulations = {self.simulations} should be 1 or more")
        if self.simulations > UNLIMITED:
            raise BadInput(f"simulations = {self.simulations} should be {UNLIMITED} or less")
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise BadInput(f"seconds = {self.seconds} should be a number greater than 0")

    def beside_clock(self) -> "Limit":
        """Returns the limit of a move that a clock limits, too."""
        return Limit() if self.is_default else self


class Agent(ABC):
    """Plays one side of games: `start` begins them, `advance` makes a move of either side, `choose` picks a move.

    Attributes:
      net_alone: the agent's net without a search. It takes planes [B, C, H, W] and returns logits of actions [B, A]
        and of win, draw and loss [B, 3], all float32. None for an agent without a net.
      heads_alone: the heads that the net keeps, without a search, for one position at a time. None without such heads.
      plays_side_by_side: whether it plays all games of a match at the same time, or one after another.
      full_trees: the number of moves at which a search tree had no room to grow.
      judges_positions: whether the values of its suggestions mean anything.
      judges_all_moves: whether its suggestions have a value for each move. An engine tells of its best moves alone, and
        alpha-beta has an upper bound for moves that it refutes.
      can_ponder: whether its search can be interrupted, so that it may think on the opponent's time.
      limit: when its searches end, unless a call says otherwise.
      remake: makes another one like this, with one thread, that shares nothing with it. None for agents that
        `make_agent` has not made.
      resign_below: it resigns if the position's value for it, in [-1, 1], is below this; None: never.
    """

    net_alone: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None
    heads_alone: Heads | None = None
    plays_side_by_side = True
    judges_positions = True
    judges_all_moves = True
    can_ponder = False
    limit = Limit()
    remake: Callable[[], "Agent"] | None = None
    resign_below: float | None = None

    def __init__(self, name: str, game: Game, seed: int = 0):
        self.name = name
        self.game = game
        self.seed = seed
        self.seconds = 0.0  # total time of choosing moves
        self.simulations = 0
        self.full_trees = 0
        self.moves = 0  # chosen moves; a whole turn chosen at once is one
        self.time_manager = TimeManager()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self.game}, seed {self.seed}>"

    @property
    def most_slots(self) -> int:
        """How many games at the same time its memory has room for."""
        return sys.maxsize

    @property
    def has_failed(self) -> bool:
        """Returns whether it cannot play any more: its program has ended."""
        return False

    @abstractmethod
    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        """Begins games from these positions, one per slot.

        Args:
          num_slots: number of games that share its memory: as many as there are positions, or more.
          first_game: the number of slot 0's game in the match.
        """

    @abstractmethod
    def advance(self, slot: int, action: int) -> None:
        """Makes a move of either side in a slot."""

    @abstractmethod
    def _choose(self, slots: Sequence[int]) -> list[int]:
        """Returns the action for each slot, or RESIGN."""

    def thought(self, slot: int) -> Thought | None:
        """Returns what it thought when it chose the last action in a slot; None if it has no opinion."""
        return None

    @abstractmethod
    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        """Returns the moves of a position, ranked. Limits given here replace the agent's limit."""

    def suggesting(
        self, state: State, simulations: int | None = None, seconds: float | None = None
    ) -> Slices[Suggestion]:
        """As `suggest`, in slices; an agent that cannot interrupt its search has a single one."""
        yield from ()
        return self.suggest(state, simulations, seconds)

    @property
    def at_full_strength(self) -> "Agent":
        """The agent by whose judgement this one plays: itself, unless it plays at a level."""
        return self

    def apart(self) -> "Agent":
        """Returns one like this. Its `suggesting` may pause while this one is used. Only this one is to be closed."""
        return copy.copy(self)

    def play(self, state: State, clock: Clock) -> Suggestion:
        """Returns the move to play within the time of a clock, or a suggestion to resign.

        `start_clock` comes first in each game.
        """
        check_state(self.game, state)
        begin = time.perf_counter()
        self.time_manager.look_at(clock)
        suggestion = self._play_on_clock(state, clock)
        self.seconds += time.perf_counter() - begin
        self.simulations += suggestion.simulations
        self.moves += 1
        return resigned(suggestion) if self.resigns(suggestion.value) else suggestion

    def _play_on_clock(self, state: State, clock: Clock) -> Suggestion:
        share, limit = self.time_manager.share(state, clock), self.limit.beside_clock()
        begin = time.perf_counter()
        planned_s = _LEAST_S if len(state.legal_actions()) == 1 else max(share.planned_s, _LEAST_S)
        meant_s = min(planned_s, limit.seconds or planned_s)
        suggestion = self.suggest(state, limit.simulations, meant_s)
        self.time_manager.note(share, time.perf_counter() - begin, meant_s)
        return suggestion

    def start_clock(self) -> None:
        """Begins a game with a clock."""
        self.time_manager.begin_game()
        plies_to_end(self.game.new_initial_state())  # compiles it, if necessary, outside the measured time

    def resigns(self, value: float) -> bool:
        """Returns whether it resigns a position of this value for it."""
        return self.resign_below is not None and value < self.resign_below

    def choose(self, slots: Sequence[int]) -> list[int]:
        """Returns the action to play, or RESIGN, in each of these slots. In all of them it is this agent's turn."""
        start = time.perf_counter()
        num_moves = self._count_moves(slots)
        actions = self._choose(slots)
        self.seconds += time.perf_counter() - start
        self.moves += num_moves
        return actions

    def _count_moves(self, slots: Sequence[int]) -> int:
        """Returns in how many of the slots a new move begins; in the others, an action continues a chosen turn."""
        return len(slots)

    def analyse(
        self,
        state: State,
        *,
        interval: float = 0.5,
        simulations: int | None = None,
        seconds: float | None = None,
        memory_mib: int = MEMORY_MIB,
        allow: Sequence[int | str] = (),
        avoid: Sequence[int | str] = (),
    ) -> Analysis:
        """Returns an iterator over suggestions for a position, whose search goes on until it is told to stop.

        An agent without a tree gives a single report, within its own limit unless another one is given here.

        Args:
          interval: seconds from one report to the next. The first one comes after 50 ms.
          simulations: the most simulations of this position, those of earlier analyses included; None: no limit.
          seconds: the most seconds; None: no limit.
          memory_mib: the most memory of trees, in MiB. The analysis ends when the tree is full.
          allow: the only moves to search, as actions or in the game's notation; none: all.
          avoid: moves that are not searched.

        Raises BadInput if an argument is wrong, the game is over, or moves are left out and the agent cannot do so.
        """
        check_state(self.game, state)
        bounds = bounds_of(state, interval, simulations, seconds, allow, avoid)
        return self._begin_analysis(state.clone(), interval, memory_mib, bounds)

    def _begin_analysis(self, state: State, interval: float, memory_mib: int, bounds: Bounds) -> Analysis:
        self._check_moves(bounds, can_leave_out=False)
        return SingleReport(lambda: self.suggest(state, bounds.simulations, bounds.seconds))

    def _check_moves(self, bounds: Bounds, can_leave_out: bool) -> None:
        """Raises BadInput if moves are left out and the agent cannot do so."""
        if bounds.allowed is not None and not can_leave_out:
            raise BadInput(f"agent {self.name!r} cannot leave out moves: it does not search with a tree of actions")

    def tree(self) -> SearchTree:
        """Returns the tree of the last `suggest`, as arrays; raises BadInput if there is none."""
        raise BadInput(f"agent {self.name!r} has no search tree; agents that search with a tree have one")

    def close(self) -> None:  # noqa: B027, most agents have nothing to release
        """Releases the agent's processes and memory."""


class RandomAgent(Agent):
    """Plays uniformly random legal moves."""

    judges_positions = False

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        self._states = [state.clone() for state in states]
        games = range(first_game, first_game + num_slots)
        self._random = [np.random.default_rng(derive_seed(self.seed, "game", number)) for number in games]

    def advance(self, slot: int, action: int) -> None:
        self._states[slot].apply_action(action)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        return [int(self._random[slot].choice(self._states[slot].legal_actions())) for slot in slots]

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        check_state(self.game, state)
        begin = time.perf_counter()
        legal = state.legal_actions()
        rng = np.random.default_rng(derive_seed(self.seed, "suggest", state.hash_key()))
        shuffled = rng.permutation(legal).tolist()
        texts = [self.game.action_to_text(state, action) for action in shuffled]
        moves = [Move(a, t, 0, 0.0, 1 / len(legal), None, None, [t]) for a, t in zip(shuffled, texts, strict=True)]
        elapsed_s = time.perf_counter() - begin
        return Suggestion(str(self.game), state.current_player(), 0, elapsed_s, 0.0, texts[0], moves)


def check_state(game: Game, state: State) -> None:
    """Raises BadInput if `state` is of another game or the game is over."""
    if state.game != game:
        raise BadInput(f"the position is of {state.game}, but this agent plays {game}")
    if state.is_terminal():
        raise BadInput("there is nothing to suggest: the game is over")
