"""Agents judge positions: they suggest moves and analyse. `game_player.py` has who plays their games."""

import copy
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from azero.arena.agents.analysis import MEMORY_MIB, Analysis, Bounds, SingleReport, bounds_of
from azero.arena.agents.clock import Limit
from azero.arena.agents.game_player import GamePlayer
from azero.arena.agents.position_search import PositionSearch
from azero.arena.agents.suggestion import Move, Suggestion, check_state
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import Game, State
from azero.mcts import TreeSearch
from azero.mcts.search.analysis import SearchTree
from azero.mcts.search.deadline import Deadline
from azero.nets.runtimes.session import Heads, by_position
from azero.system.threads import Slices


class Agent(ABC):
    """Judges positions of a game. A subclass has to define `suggest` alone.

    Attributes:
      net_alone: the agent's net without a search. It takes planes [B, C, H, W] and returns logits of actions [B, A]
        and of win, draw and loss [B, 3], all float32. None for an agent without a net.
      heads_alone: the heads that the net keeps, without a search, for one position at a time. None without such heads.
      runtime: library and precision of the net, once it is loaded; None for an agent without a net.
      player: plays its games, in matches and on a clock.
      judges_positions: whether the values of its suggestions mean anything.
      judges_all_moves: whether its suggestions have a value for each move. An engine reports only its best moves, and
        alpha-beta has an upper bound for moves that it refutes.
      can_ponder: whether its search can be interrupted, so that it may think on the opponent's time.
      limit: when its searches end, unless a call says otherwise.
      memory_mib: the most memory of its trees of single positions and of games on a clock, in MiB, unless a call says
        otherwise.
      remake: makes another one like this, with one thread, that shares nothing with it. None for agents that
        `make_agent` has not made.
      resign_below: it resigns if the position's value for it, in [-1, 1], is below this; None: never.
    """

    net_alone: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None
    heads_alone: Heads | None = None
    runtime: tuple[str, str] | None = None
    judges_positions = True
    judges_all_moves = True
    can_ponder = False
    limit = Limit()
    memory_mib = MEMORY_MIB
    remake: Callable[[], "Agent"] | None = None
    resign_below: float | None = None

    def __init__(self, name: str, game: Game, seed: int = 0):
        self.name = name
        self.game = game
        self.seed = seed
        self.player = GamePlayer(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self.game}, seed {self.seed}>"

    @property
    def has_failed(self) -> bool:
        """Returns whether it cannot play any more: its program has ended."""
        return False

    @abstractmethod
    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        """Returns the moves of a position, ranked. Limits given here replace the agent's limit."""

    def suggesting(
        self,
        state: State,
        simulations: int | None = None,
        seconds: float | None = None,
        ending: Deadline | None = None,
    ) -> Slices[Suggestion]:
        """As `suggest`, in slices; an agent that cannot interrupt its search has a single one.

        Args:
          ending: once it has passed, the search ends with what it has found. None: it is not ended.
        """
        yield from ()
        return self.suggest(state, simulations, seconds)

    @property
    def at_full_strength(self) -> "Agent":
        """The agent by whose judgement this one plays: itself, unless it plays at a level."""
        return self

    def apart(self) -> Self:
        """Returns one like this. Its `suggesting` may pause while this one is used. Only this one is to be closed."""
        agent = copy.copy(self)
        agent.player = type(self.player)(agent)
        return agent

    def new_search(self, num_trees: int = 1, max_nodes: int = 1) -> TreeSearch | None:
        """Returns another search of its kind, whose leaves wait for the evaluator one at a time.

        Returns None for an agent that does not search trees of actions, but tables, whole turns, or in another way.
        """
        return None

    def position_search(self, memory_mib: int | None = None) -> PositionSearch | None:
        """Returns its search of single positions, which keeps their trees; None if it has none.

        Args:
          memory_mib: the most memory of trees, in MiB; None: as much as the agent takes by itself.

        Raises BadInput if the memory is too small for a tree.
        """
        return None

    def heads_of(self, state: State) -> dict[str, Any]:
        """Returns what the heads that the net keeps answer for a position, without a search: arrays [H, W] or numbers.

        They are for the player to move. Without such heads there are none.
        """
        answers = by_position(self.heads_alone(state.planes()[None])) if self.heads_alone else {}
        return {name: each[0] if each.ndim > 1 else float(each[0]) for name, each in answers.items()}

    def resigns(self, value: float) -> bool:
        """Returns whether it resigns a position of this value for it."""
        return self.resign_below is not None and value < self.resign_below

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

    def __init__(self, name: str, game: Game, seed: int = 0):
        super().__init__(name, game, seed)
        self.player = RandomPlayer(self)

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


class RandomPlayer(GamePlayer):
    """Plays uniformly random legal moves, in each game from a seed of its own."""

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        super().start(num_slots, states, first_game)
        self._random = [np.random.default_rng(self.seed_of(slot)) for slot in range(num_slots)]

    def _choose_in(self, slot: int) -> int:
        return int(self._random[slot].choice(self.states[slot].legal_actions()))
