"""Reviews a game: each move is compared with the best one, both searched with equal effort.

The value that a search gives a move at the position before it is not used: the search has looked at the move less than
at the best one. Instead, the positions after both moves are searched, each with the agent's whole limit. A solver with
a small limit looks at each position first. What it proves needs no search.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from azero.arena.agents.suggestion import VALUES, Move, Suggestion
from azero.arena.benchmarks.judges import judge_for
from azero.arena.reviews.accuracy import (
    BLUNDER,
    INACCURACY,
    MISTAKE,
    ONLY_MOVE,
    THRESHOLDS,
    accuracy_of,
    mark_of,
    volatilities_of,
)
from azero.errors import BadInput
from azero.games import Game, State
from azero.records import Record
from azero.system.slices import Slices, finish

_DEEPER = 4  # times the solver's limit, for the positions after moves that are compared


class Suggester(Protocol):
    """What a review needs of an agent."""

    name: str
    game: Game
    judges_positions: bool

    @property
    def at_full_strength(self) -> "Suggester":
        """The agent by whose judgement it plays, see `Agent`."""

    def suggesting(self, state: State, simulations: int | None, seconds: float | None) -> Slices[Suggestion]:
        """Finds the moves of a position, ranked."""


@dataclass(frozen=True)
class MoveReview:
    """What a move lost. Values are in [-1, 1], for the player who moved.

    Attributes:
      player: who moved, 0 or 1.
      move: the move that was played, in the game's notation.
      best: the best move.
      line: the best move and what may follow.
      value: the value after the best move.
      played: the value after the move that was played.
      loss: `value - played` in [0, 2]; 0 if that is negative, or the best move was played.
      mark: `?!`, `?`, `??`, or `!` for the only move that is no blunder; empty for none.
      is_random: whether the move belongs to a random opening.
    """

    player: int
    move: str
    best: str
    line: list[str]
    value: float
    played: float
    loss: float
    mark: str
    is_random: bool


@dataclass(frozen=True)
class GameReview:
    """The review of a game.

    Attributes:
      record: the game.
      moves: the reviews of the moves of the main line.
      accuracy: of both players, in [0, 100], without random moves; None for a player without moves.
      values: of all positions of the game in turn, the first and the last among them, for the first player.
    """

    record: Record
    moves: list[MoveReview]
    accuracy: list[float | None]
    values: list[float]

    def count(self, mark: str) -> list[int]:
        """Returns how many moves of each player have a mark; random moves do not count."""
        own = [move.player for move in self.moves if move.mark == mark and not move.is_random]
        return [own.count(player) for player in (0, 1)]

    def mean_loss(self) -> list[float | None]:
        """Returns the mean loss of both players, in [0, 2], without random moves; None for a player without moves."""
        losses = [[move.loss for move in self.moves if move.player == k and not move.is_random] for k in (0, 1)]
        return [sum(own) / len(own) if own else None for own in losses]

    def to_json(self) -> dict:
        """Returns the object of a game in what `azero review --json` prints."""
        return {
            "game": str(self.record.game),
            "first": self.record.tags.get("First"),
            "second": self.record.tags.get("Second"),
            "result": self.record.result,
            "moves": [vars(move) for move in self.moves],
            "accuracy": self.accuracy,
            "mean_loss": self.mean_loss(),
            "inaccuracies": self.count(INACCURACY),
            "mistakes": self.count(MISTAKE),
            "blunders": self.count(BLUNDER),
        }


class _After(NamedTuple):
    """The position after a move."""

    value: float  # for the player who moved
    is_proven: bool


class Reviewer:
    """Reviews games by an agent's judgement. A position that has been searched before is not searched again.

    Args:
      agent: searches the positions; one at a level does so at full strength.
      simulations: of each search; None: the agent's own limit.
      seconds: the most of each search; None: no limit.

    Attributes:
      num_searched: positions that have been searched.

    Raises BadInput if the agent does not judge positions.
    """

    def __init__(self, agent: Suggester, simulations: int | None = None, seconds: float | None = None):
        agent = agent.at_full_strength
        if not agent.judges_positions:
            raise BadInput(f"agent {agent.name!r} does not judge positions; a review needs a net or a search")
        self._agent, self._simulations, self._seconds = agent, simulations, seconds
        self._judge = judge_for(agent.game)
        self._found: dict[object, Suggestion] = {}
        self._proven: dict[object, float] = {}  # results of positions, for the player to move
        self._tried: dict[object, int] = {}  # the solver's largest limit at positions

    @property
    def num_searched(self) -> int:
        return len(self._found)

    def review(self, record: Record, on_move: Callable[[MoveReview], object] = lambda move: None) -> GameReview:
        """Returns the review of a game's main line; raises BadInput if it has no moves.

        Args:
          on_move: called with the review of each move.
        """
        return finish(self.reviewing(record, on_move))

    def reviewing(self, record: Record, on_move: Callable[[MoveReview], object]) -> Slices[GameReview]:
        """As `review`, in slices. A reviewer reviews one game at a time."""
        states, actions, moves = list(record.states()), record.actions(), list[MoveReview]()
        if not actions:
            raise BadInput("there is nothing to review: the game has no moves")
        for ply, action in enumerate(actions):
            move = yield from self._review_move(states[ply], action, is_random=ply < record.num_opening_plies)
            moves.append(move)
            on_move(move)
        values = []
        for state in states:
            values.append((yield from self._value_for_first(state)))
        weights = volatilities_of(values)
        accuracies = []
        for player in (0, 1):
            own = [ply for ply, move in enumerate(moves) if move.player == player and not move.is_random]
            accuracies.append(accuracy_of([moves[ply].loss for ply in own], [weights[ply] for ply in own]))
        return GameReview(record, moves, accuracies, values)

    def _review_move(self, state: State, action: int, is_random: bool) -> Slices[MoveReview]:
        ranked = (yield from self._search(state)).moves
        own = yield from self._judged(state)
        best_move = yield from self._best_of(state, ranked, own)
        is_best = action == best_move.action
        best = yield from self._after(state, best_move.action, is_deep=not is_best)
        played = yield from self._after(state, action, is_deep=not is_best)
        value = own.value if own.is_proven else best.value  # the best move reaches what is proven
        played_value = value if is_best else played.value
        if own.is_proven:
            played_value = min(played_value, value)
        loss = max(0.0, value - played_value)
        gives_away = (own.is_proven or best.is_proven) and played.is_proven and played_value < value
        mark = "" if is_best or len(ranked) == 1 else mark_of(value, played_value, gives_away)
        if is_best and (yield from self._is_only_move(state, ranked, own.is_proven, best_move, value)):
            mark = ONLY_MOVE
        game, player = state.game, state.current_player()
        texts = game.action_to_text(state, action), game.action_to_text(state, best_move.action)
        return MoveReview(player, *texts, best_move.pv, value, played_value, loss, mark, is_random)

    def _best_of(self, state: State, ranked: list[Move], own: _After) -> Slices[Move]:
        """Returns the first move in the agent's ranking that is not proven to give away a proven result."""
        if own.is_proven:
            for move in ranked:
                after = yield from self._after(state, move.action, is_deep=True)
                if not after.is_proven or after.value >= own.value:
                    return move
        return ranked[0]

    def _is_only_move(
        self, state: State, ranked: list[Move], is_proven: bool, best: Move, value: float
    ) -> Slices[bool]:
        """Returns whether every other move would be a blunder."""
        others = [move for move in ranked if move.action != best.action]
        for move in others:
            other = yield from self._after(state, move.action)
            if mark_of(value, other.value, is_proven and other.is_proven and other.value < value) != BLUNDER:
                return False
        return bool(others)

    def _after(self, state: State, action: int, is_deep: bool = False) -> Slices[_After]:
        player, after = state.current_player(), state.clone()
        after.apply_action(action)
        if after.is_terminal():
            return _After(after.returns()[player], True)
        value, is_proven = yield from self._judged(after, is_deep)
        return _After(value if after.current_player() == player else 0.0 - value, is_proven)

    def _value_for_first(self, state: State) -> Slices[float]:
        if state.is_terminal():
            return state.returns()[0]
        value = (yield from self._judged(state)).value
        return value if state.current_player() == 0 else 0.0 - value

    def _judged(self, state: State, is_deep: bool = False) -> Slices[_After]:
        """Finds the value of a position for the player to move: what the solver proves, otherwise what a search says.

        Args:
          is_deep: whether the solver has a larger limit, for a position after a move that may be a mistake.
        """
        key = state.position_key()
        limit = self._judge.review_limit(state) * (_DEEPER if is_deep else 1)
        if key not in self._proven and self._tried.get(key, 0) < limit:
            self._tried[key] = limit
            result = yield from self._judge.solving(state, limit)
            if result is not None:
                self._proven[key] = float(result)
        if key not in self._proven:
            found = yield from self._search(state)
            if found.proven is None:
                return _After(found.value, False)
            self._proven[key] = float(VALUES[found.proven])
        return _After(self._proven[key], True)

    def _search(self, state: State) -> Slices[Suggestion]:
        """Returns what the agent says of a position, which it searches once."""
        key = state.position_key()
        if key not in self._found:
            self._found[key] = yield from self._agent.suggesting(state, self._simulations, self._seconds)
        return self._found[key]


def annotate(review: GameReview) -> None:
    """Writes marks, losses and better lines into the review's record. Other marks, comments and variations stay."""
    record, states = review.record, review.record.states()
    for parent, node, state, move in zip([record.root, *record.line()], record.line(), states, review.moves):  # noqa: B905
        node.mark = move.mark or node.mark
        if move.mark in THRESHOLDS:
            remark = f"loses {50 * move.loss:.0f} points; {move.best} was better"
            if remark not in node.comment:
                node.comment = f"{node.comment}; {remark}" if node.comment else remark
            actions, after = list[int](), state.clone()
            for text in move.line:
                actions.append(after.game.text_to_action(after, text))
                after.apply_action(actions[-1])
            if all([child.action, *(each.action for each in child.line())] != actions for child in parent.children):
                parent.add_line(actions)
