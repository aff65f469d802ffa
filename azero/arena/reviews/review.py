"""Reviews a game: each move is compared with the best one, both searched with equal effort.

The value that a search gives a move at the position before it is not used: the search has looked at the move less than
at the best one. Instead, the positions after both moves are searched, each with the agent's whole limit.

Then a solver works from the end of the game backwards, up to the first position that it does not solve. What it proves
replaces what the searches say. Its limits follow from the searches, so that it takes less time than they do.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from azero.arena.agents.suggestion import VALUES, Move, Suggestion
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
from azero.arena.solved.judges import judge_for
from azero.errors import BadInput
from azero.games import Game, State
from azero.records import Record
from azero.system.threads import Slices, T, finish

_SEARCH_US, _ROLLOUT_US, _NET_US = 250, 1, 100
"""About the least time of a search, of a simulation with a rollout, and of one with a net, in microseconds."""

_SOLVE_US = 300
"""About the most time of a solver's work on a position, without its nodes, in microseconds."""

_FREE_US = 20_000
"""Time that the solver has even if the searches take none, in microseconds: nobody notices it."""

_PAUSES_S = 0.25
"""What the solver may take beyond the measured time of the searches: a collection of garbage must not end it."""


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
        """Returns the game's object in what `azero review --json` prints."""
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
      simulations: limit of each search; None: the agent's own limit.
      seconds: limit of each search; None: no limit.

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
        self._is_solving = False
        self._left_us = 0.0  # what the searches take by the figures above, and `_FREE_US`, without the solver's part
        self._left_s = 0.0  # the same as measured, and `_PAUSES_S`

    @property
    def num_searched(self) -> int:
        return len(self._found)

    def review(self, record: Record, on_move: Callable[[MoveReview], object] = lambda move: None) -> GameReview:
        """Returns the review of a game's main line; raises BadInput if it has no moves.

        Args:
          on_move: called with the review of each move as soon as it has been searched, before the solver works.
        """
        return finish(self.reviewing(record, lambda ply, move, is_new: on_move(move) if is_new else None))

    def reviewing(self, record: Record, on_move: Callable[[int, MoveReview, bool], object]) -> Slices[GameReview]:
        """As `review`, in slices. A reviewer reviews one game at a time.

        Args:
          on_move: called with the ply, counted from 0, the review of the move, and whether it is the first one. There
            is another one if the solver changes it.
        """
        states, actions, moves = list(record.states()), record.actions(), list[MoveReview]()
        if not actions:
            raise BadInput("there is nothing to review: the game has no moves")
        self._is_solving, self._left_us, self._left_s = False, _FREE_US, _PAUSES_S
        for ply, action in enumerate(actions):
            moves.append((yield from self._review_move(states[ply], action, ply < record.num_opening_plies)))
            on_move(ply, moves[ply], True)
        finish(self._judge.solving(states[0], node_limit=1))  # compiles it, if necessary, outside the measured time
        self._is_solving = True
        for ply in reversed(range(len(actions))):
            move = yield from self._review_move(states[ply], actions[ply], moves[ply].is_random)
            if move != moves[ply]:
                moves[ply] = move
                on_move(ply, move, False)
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
        best = yield from self._after(state, best_move.action)
        played = yield from self._after(state, action)
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
                after = yield from self._after(state, move.action)
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

    def _after(self, state: State, action: int) -> Slices[_After]:
        player, after = state.current_player(), state.clone()
        after.apply_action(action)
        if after.is_terminal():
            return _After(after.returns()[player], True)
        value, is_proven = yield from self._judged(after)
        return _After(value if after.current_player() == player else 0.0 - value, is_proven)

    def _value_for_first(self, state: State) -> Slices[float]:
        if state.is_terminal():
            return state.returns()[0]
        value = (yield from self._judged(state)).value
        return value if state.current_player() == 0 else 0.0 - value

    def _judged(self, state: State) -> Slices[_After]:
        """Finds the value of a position for the player to move: what is proven, otherwise what a search says."""
        key = state.position_key()
        if key not in self._proven and self._is_solving:
            yield from self._solve(state, key)
        if key not in self._proven:
            found = yield from self._search(state)
            if found.proven is None:
                return _After(found.value, False)
            self._proven[key] = float(VALUES[found.proven])
        return _After(self._proven[key], True)

    def _solve(self, state: State, key: object) -> Slices[None]:
        """Proves the result of a position, or ends the solver's work.

        Its limit on nodes does not depend on measured times, so that reviews can be repeated. Measured times are a
        guard, for machines where searches take less than the figures above.
        """
        judge, before = self._judge, self._judge.num_nodes
        limit = min(judge.review_limit, int(self._left_us * judge.nodes_per_us))
        result = yield from self._timing(judge.solving(state, limit), time.thread_time, -1)
        self._left_us -= _SOLVE_US + (judge.num_nodes - before) / judge.nodes_per_us
        self._is_solving = result is not None
        if result is not None:
            self._proven[key] = float(result)

    def _search(self, state: State) -> Slices[Suggestion]:
        """Returns what the agent says of a position, which it searches once."""
        key = state.position_key()
        if key not in self._found:
            before_s = self._left_s
            work = self._agent.suggesting(state, self._simulations, self._seconds)
            found = yield from self._timing(work, time.perf_counter, 1)
            assert found is not None, "only the solver's time is limited"
            self._left_s = min(self._left_s, before_s + found.elapsed_s)  # without compilation
            self._left_us += _SEARCH_US + (_NET_US if found.runtime else _ROLLOUT_US) * found.simulations
            self._found[key] = found
        return self._found[key]

    def _timing(self, work: Slices[T], clock: Callable[[], float], sign: int) -> Slices[T | None]:
        """Does some work, and adds its seconds times `sign` to those that are left; None when none are left."""
        while sign > 0 or self._left_s > 0:
            begin = clock()
            try:
                next(work)
            except StopIteration as end:
                return end.value
            finally:
                self._left_s += sign * (clock() - begin)
            yield
        return None


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
