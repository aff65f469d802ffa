"""Agents play matches and give suggestions. They play many games at the same time, each in a slot."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from azero.arena.agents.suggestion import Move, Suggestion, suggestion_of
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import Game, State
from azero.mcts import MAX_NODES, Search, nodes_needed
from azero.mcts.search.tree_arrays import SearchTree, tree_of
from azero.nets.runtimes.session import Heads, by_position

UNLIMITED = 1 << 30
"""Simulations of a search that has only a time limit."""

_NO_TIME = 1e-9  # seconds: a search of one simulation, that solves nothing


@dataclass(frozen=True)
class Limit:
    """When a search ends: after this number of simulations or seconds, whichever comes first."""

    simulations: int = UNLIMITED
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.simulations <= 0:
            raise BadInput(f"simulations = {self.simulations} should be 1 or more")
        if self.simulations > UNLIMITED:
            raise BadInput(f"simulations = {self.simulations} should be {UNLIMITED} or less")
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise BadInput(f"seconds = {self.seconds} should be a number greater than 0")


def leaves_together(limit: Limit, most: int) -> int:
    """Returns how many leaves of a single tree may wait for the net. In short searches many would cost strength."""
    return max(1, min(most, limit.simulations // 100))


class Agent(ABC):
    """Plays one side of games: `start` begins them, `advance` makes a move of either side, `choose` picks a move.

    Attributes:
      net_alone: the agent's net without a search. It takes planes [B, C, H, W] and returns logits of actions [B, A]
        and of win, draw and loss [B, 3], all float32. None for an agent without a net.
      heads_alone: the heads that the net keeps, without a search, for one position at a time. None without such heads.
      plays_side_by_side: whether it plays all games of a match at the same time, or one after another.
    """

    net_alone: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None
    heads_alone: Heads | None = None
    plays_side_by_side = True

    def __init__(self, name: str, game: Game, seed: int = 0):
        self.name = name
        self.game = game
        self.seed = seed
        self.seconds = 0.0  # total time of choosing moves
        self.simulations = 0
        self.moves = 0  # chosen moves; a whole turn chosen at once is one

    @abstractmethod
    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        """Begins games from these positions, one per slot. `first_game` is the number of slot 0's game in the match."""

    @abstractmethod
    def advance(self, slot: int, action: int) -> None:
        """Makes a move of either side in a slot."""

    @abstractmethod
    def _choose(self, slots: Sequence[int]) -> list[int]:
        """Returns the action for each slot, or RESIGN."""

    @abstractmethod
    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        """Returns the moves of a position, ranked. Limits given here replace the agent's limit."""

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

    def tree(self) -> SearchTree:
        """Returns the tree of the last `suggest`, as arrays; raises BadInput if there is none."""
        raise BadInput(f"agent {self.name!r} has no search tree; agents that search with a tree have one")

    def close(self) -> None:  # noqa: B027, most agents have nothing to release
        """Releases the agent's processes and memory."""


class SearchAgent(Agent):
    """Plays by search. A limit on simulations searches all slots together; a limit on seconds searches them one by one.

    Args:
      make_search: returns a search, given the number of trees, the most nodes of a tree, and how many leaves of a tree
        may wait for the evaluator. This is 1, except for long searches of a single tree, which threads share.
      most_leaves: the limit on this number.
    """

    def __init__(
        self,
        name: str,
        game: Game,
        limit: Limit,
        make_search: Callable[[int, int, int], Search],
        seed: int = 0,
        most_leaves: int = 1,
    ):
        super().__init__(name, game, seed)
        self.limit = limit
        self.runtime: tuple[str, str] | None = None  # library and precision of the net, once it is loaded
        self._make_search, self._most_leaves = make_search, most_leaves
        self._search: Search | None = None
        self._alone: Search | None = None  # the search of `suggest`, with one tree
        self._alone_size = (0, 0)

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        if self._search is None or len(self._search.forest.trees) < num_slots:
            max_nodes = nodes_needed(self.game, self.limit.simulations, num_slots)
            leaves = 1 if self.limit.seconds is None else leaves_together(self.limit, self._most_leaves)
            self._search = self._make_search(num_slots, max_nodes, leaves)
            self._search.prepare()
        for slot, state in enumerate(states):
            self._search.start(slot, state, derive_seed(self.seed, "game", first_game + slot))
        self._search.choose(0)  # compiles it, if necessary, outside the measured time

    def advance(self, slot: int, action: int) -> None:
        assert self._search is not None, "start comes first"
        self._search.advance(slot, action)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        search = self._search
        assert search is not None, "start comes first"
        together = [slots] if self.limit.seconds is None else [[slot] for slot in slots]
        for some in together:
            search.run(some, self.limit.simulations, self.limit.seconds)
            self.simulations += int(search.forest.trees.simulations[list(some)].sum())
        return [search.choose(slot) for slot in slots]

    def _count_moves(self, slots: Sequence[int]) -> int:
        assert self._search is not None, "start comes first"
        return sum(not self._search.is_within_turn(slot) for slot in slots)

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        check_state(self.game, state)
        limit = self.limit
        if simulations is not None or seconds is not None:
            limit = Limit(UNLIMITED if simulations is None else simulations, seconds)
        begin = time.perf_counter()
        wanted = min(MAX_NODES, limit.simulations * self.game.num_actions + self.game.num_actions + 1)
        leaves = leaves_together(limit, self._most_leaves)
        if self._alone is None or self._alone_size != (wanted, leaves):
            is_first = self._alone is None
            self._alone, self._alone_size = self._make_search(1, wanted, leaves), (wanted, leaves)
            self._alone.prepare()
            if is_first:  # compiles all kernels outside the measured time
                self._alone.start(0, state, 0)
                self._alone.run([0], 1, _NO_TIME)
                suggestion_of(self._alone, state)
                self._answers_of_heads(state)
                begin = time.perf_counter()
        self._alone.start(0, state, derive_seed(self.seed, "suggest"))
        self._alone.run([0], limit.simulations, limit.seconds)
        suggestion = suggestion_of(self._alone, state)
        answers = self._answers_of_heads(state)
        runtime, precision = self.runtime or (None, None)
        elapsed_s = time.perf_counter() - begin
        return replace(suggestion, elapsed_s=elapsed_s, runtime=runtime, precision=precision, **answers)

    def _answers_of_heads(self, state: State) -> dict[str, Any]:
        """Returns the fields of a suggestion that kept heads fill: arrays [H, W], or numbers."""
        answers = by_position(self.heads_alone(state.planes()[None])) if self.heads_alone else {}
        return {name: each[0] if each.ndim > 1 else float(each[0]) for name, each in answers.items()}

    def tree(self) -> SearchTree:
        if self._alone is None:
            raise BadInput(f"agent {self.name!r} has no search tree yet: ask it for a suggestion first")
        tree = tree_of(self._alone.forest, 0)
        if any(self._alone.actions_of(0, action) != [action] for action in tree.action[tree.children()].tolist()):
            raise BadInput(f"agent {self.name!r} has no tree of actions: the moves of its root are whole turns")
        return tree

    def close(self) -> None:
        """Releases trees, cache and the net's runtime, hundreds of MiB, without waiting for garbage collection."""
        self._search = self._alone = None


class RandomAgent(Agent):
    """Plays uniformly random legal moves."""

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
        shuffled = np.random.default_rng(derive_seed(self.seed, "suggest")).permutation(legal).tolist()
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
