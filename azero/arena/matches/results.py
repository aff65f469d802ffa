"""The results of matches: games, statistics, and how a match ended early."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import Clock, TimeControl
from azero.arena.agents.game_player import Thought
from azero.arena.matches.statistics import Tally, elo_from_score, elo_interval, finite_or_none, score_interval
from azero.errors import EngineFailed
from azero.games import Game
from azero.records import Record
from azero.records.record import OUT_OF_TIME
from azero.system.console import warn_once
from azero.system.worker_pool import WorkersDied


class GameClocks(NamedTuple):
    """What the clocks of both sides showed in a game, A's first, in seconds."""

    used_s: tuple[float, float]
    least_left_s: tuple[float, float]  # after a move


@dataclass(frozen=True)
class GameResult:
    """A finished game.

    Attributes:
      pair: the number of its pair.
      a_is_first: whether A moved first.
      actions: with the opening, up to the end.
      score: of A: 1 win, 0.5 draw, 0 loss.
      opening_plies: the first actions, which were drawn at random.
      termination: `resignation` or `time forfeit`; empty if the game ended by the rules.
      thoughts: what the players thought of the moves after the opening, if the match keeps thoughts.
      clocks: what the clocks showed; None without clocks.
    """

    pair: int
    a_is_first: bool
    actions: tuple[int, ...]
    score: float
    opening_plies: int = 0
    termination: str = ""
    thoughts: tuple[Thought | None, ...] = ()
    clocks: GameClocks | None = None

    @property
    def number(self) -> int:
        """Its number in the match: games 2p and 2p + 1 are pair p, and A moves first in even games."""
        return 2 * self.pair + (not self.a_is_first)


@dataclass(frozen=True)
class TimeUse:
    """What both sides did with their clocks, A first.

    Attributes:
      control: the time control, as `--clock` takes it.
      losses_on_time: games lost on time.
      used_s: seconds of each finished game.
      least_left_s: the least time that was left after a move.
    """

    control: str
    losses_on_time: list[int]
    used_s: list[list[float]]
    least_left_s: list[float]

    @classmethod
    def of_games(cls, control: TimeControl, results: Sequence[GameResult]) -> "TimeUse":
        """Returns it from the finished games of a match."""
        clocks = [each.clocks for each in results if each.clocks]
        lost = [each.score for each in results if each.termination == OUT_OF_TIME]
        used = [[each.used_s[side] for each in clocks] for side in (0, 1)]
        least = [min([Clock(control).left_s, *(each.least_left_s[side] for each in clocks)]) for side in (0, 1)]
        return cls(str(control), [lost.count(0.0), lost.count(1.0)], used, least)

    def to_json(self) -> dict:
        """Returns an object for JSON, with the mean seconds of a game."""
        means = [float(np.mean(used)) if used else 0.0 for used in self.used_s]
        return {**vars(self), "used_s": means}


@dataclass(frozen=True)
class MatchResult:
    """The finished games of a match, from A's side.

    Attributes:
      a: A's name.
      b: B's name.
      game: the game's name, with its parameters.
      results: the results of the games, in order.
      elapsed_s: seconds of all games, without compilation.
      seconds_a: A's seconds per move.
      seconds_b: B's seconds per move.
      simulations_a: A's simulations per move.
      simulations_b: B's simulations per move.
      sprt: "accept" or "reject"; None without an SPRT or if it is undecided.
      time_use: what both sides did with their clocks; None without clocks.
      failure: how an engine's failure or Ctrl-C ended the match early; None if none did.
      full_trees: moves of both agents, A first, at which a search tree had no room to grow.
    """

    a: str
    b: str
    game: str
    results: list[GameResult]
    elapsed_s: float
    seconds_a: float
    seconds_b: float
    simulations_a: float
    simulations_b: float
    sprt: str | None = None
    failure: str | None = None
    time_use: TimeUse | None = None
    full_trees: tuple[int, int] = (0, 0)

    @property
    def tally(self) -> Tally:
        """Wins, draws and losses."""
        return tally_of(self.results)

    @property
    def pair_scores(self) -> list[float]:
        """A's mean score in each pair."""
        return pair_scores(self.results)

    @property
    def score(self) -> float:
        """A's share of the points, in [0, 1]; a draw is half a point."""
        return self.tally.score

    @property
    def score_ci95(self) -> tuple[float, float]:
        """The ends of the score's 95 % interval."""
        return score_interval(self.pair_scores)

    @property
    def elo(self) -> float | None:
        """The Elo difference that belongs to the score; None if A won or lost every game, so that it is infinite."""
        return finite_or_none(elo_from_score(self.score))

    @property
    def elo_ci95(self) -> tuple[float | None, float | None]:
        """The ends of the Elo difference's 95 % interval. None is an infinite one, if A won or lost every game."""
        low, high = elo_interval(self.pair_scores)
        return finite_or_none(low), finite_or_none(high)

    @property
    def distinct_games(self) -> int:
        """Number of games that differ in their moves or in which side played them."""
        return len({(result.a_is_first, result.actions) for result in self.results})

    def to_json(self) -> dict:
        """Returns the object that `azero evaluate --json` prints."""
        tally = self.tally
        fields = {"a": self.a, "b": self.b, "game": self.game, "games": tally.games}
        fields |= {"wins": tally.wins, "draws": tally.draws, "losses": tally.losses, "score": self.score}
        fields |= {"score_ci95": list(self.score_ci95), "elo": self.elo, "elo_ci95": list(self.elo_ci95)}
        fields |= {"distinct_games": self.distinct_games, "elapsed_s": self.elapsed_s}
        fields |= {"seconds_per_move": [self.seconds_a, self.seconds_b]}
        fields |= {"simulations_per_move": [self.simulations_a, self.simulations_b]}
        fields |= {"full_trees": list(self.full_trees), "sprt": self.sprt}
        clock = None if self.time_use is None else self.time_use.to_json()
        return fields | {"failure": self.failure, "clock": clock}


class Unfinished(EngineFailed):
    """A match ended before its last game because an engine failed.

    Attributes:
      result: the finished games; None if there are none.
      results: of matches that workers played at the same time, the finished games of each.
    """

    result: MatchResult | None = None
    results: Sequence[MatchResult] = ()


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a match.

    Attributes:
      result: the finished games; None if there are none.
      results: of matches that workers played at the same time, the finished games of each.
    """

    result: MatchResult | None = None
    results: Sequence[MatchResult] = ()


def tally_of(results: Sequence[GameResult]) -> Tally:
    scores = [result.score for result in results]
    return Tally(scores.count(1.0), scores.count(0.5), scores.count(0.0))


def pair_scores(results: Sequence[GameResult]) -> list[float]:
    """Returns A's mean score in each pair, in the order of the pairs."""
    pairs: dict[int, list[float]] = {}
    for result in sorted(results, key=lambda result: result.pair):
        pairs.setdefault(result.pair, []).append(result.score)
    return [sum(scores) / len(scores) for scores in pairs.values()]


def without_repeats(results: Sequence[GameResult]) -> list[GameResult]:
    """Returns the games without those that repeat all moves of an earlier game with the same sides."""
    return list({(result.a_is_first, result.actions): result for result in reversed(results)}.values())[::-1]


def spent_by(agent: Agent) -> np.ndarray:
    """Returns the seconds, simulations, moves and full trees of an agent so far."""
    player = agent.player
    return np.array([player.seconds, player.simulations, player.moves, player.full_trees], float)


class Cost(NamedTuple):
    """What games have cost.

    Attributes:
      elapsed_s: seconds of all games, without compilation.
      spent: [2, 4], seconds, simulations, moves and full trees of both agents, A first; see `spent_by`.
    """

    elapsed_s: float
    spent: np.ndarray

    def plus(self, other: "Cost") -> "Cost":
        return Cost(self.elapsed_s + other.elapsed_s, self.spent + other.spent)

    def minus(self, other: "Cost") -> "Cost":
        return Cost(self.elapsed_s - other.elapsed_s, self.spent - other.spent)


NO_COST = Cost(0.0, np.zeros((2, 4)))


def early_end_of(error: EngineFailed | WorkersDied | KeyboardInterrupt, when: str) -> Unfinished | Interrupted:
    """Returns the exception that ends the match; its `result` is not set yet."""
    if isinstance(error, KeyboardInterrupt):
        return Interrupted(f"stopped {when}")
    return Unfinished(f"the match ended {when}: {error}")


def finish(
    names: tuple[str, str],
    game: str,
    results: list[GameResult],
    cost: Cost,
    decision: str | None,
    early_end: Unfinished | Interrupted | None,
    time_use: TimeUse | None = None,
) -> MatchResult:
    """Returns the result of a match; raises `early_end` with this result if there is one.

    Args:
      names: of both agents, A first.
    """
    for name, (*_, num_full) in zip(names, cost.spent, strict=True):
        if num_full:
            warn_once(f"{name}: its search tree had no room to grow at some moves; full_trees counts them")
    each_side = ((each[:2] / max(each[2], 1)).tolist() for each in cost.spent)
    (seconds_a, simulations_a), (seconds_b, simulations_b) = each_side
    costs = (cost.elapsed_s, seconds_a, seconds_b, simulations_a, simulations_b)
    failure = str(early_end) if early_end else None
    full_trees = int(cost.spent[0][3]), int(cost.spent[1][3])
    match = MatchResult(*names, game, results, *costs, decision, failure, time_use, full_trees)
    if early_end:
        early_end.result = match if results else None
        raise early_end
    return match


def records_of(match: MatchResult, game: Game) -> list[Record]:
    """Returns the records of a match's games, in order, with what the agents thought if the match kept it."""
    return [_record_of(match, result, game) for result in match.results]


def _record_of(match: MatchResult, result: GameResult, game: Game) -> Record:
    first, second = (match.a, match.b) if result.a_is_first else (match.b, match.a)
    tags = {"First": first, "Second": second, "Round": f"{result.pair + 1}.{1 if result.a_is_first else 2}"}
    if result.opening_plies:
        tags["OpeningPlies"] = str(result.opening_plies)
    record = Record.of_game(game.new_initial_state(), result.actions, **tags)
    if result.termination:
        record.award(0 if (result.score == 1.0) == result.a_is_first else 1, result.termination)
    for node, thought in zip(record.line()[result.opening_plies :], result.thoughts, strict=False):
        if thought:
            node.value, node.simulations, node.seconds = thought
    return record
