"""Matches: pairs of games from random openings with colours swapped. Games run at the same time if both agents can."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import RESIGN
from azero.arena.matches.openings import draw_openings
from azero.arena.matches.statistics import Sprt, Tally, elo_from_score, elo_interval, finite_or_none, score_interval
from azero.errors import BadInput, EngineFailed
from azero.games import Game, State

OPENING_PLIES = 4
_SIDE_BY_SIDE = 128  # games


@dataclass(frozen=True)
class GameResult:
    """A finished game."""

    pair: int
    a_is_first: bool
    actions: tuple[int, ...]  # with the opening, up to the end or the resignation
    score: float  # of A: 1 win, 0.5 draw, 0 loss


@dataclass
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

    @property
    def tally(self) -> Tally:
        """Wins, draws and losses."""
        return tally_of(self.results)

    @property
    def pair_scores(self) -> list[float]:
        """A's mean score in each pair."""
        return pair_scores(self.results)

    @property
    def distinct_games(self) -> int:
        """Number of games that differ in their moves or in which side played them."""
        return len({(result.a_is_first, result.actions) for result in self.results})

    def to_json(self) -> dict:
        """Returns the object that `azero evaluate --json` prints."""
        tally, pairs = self.tally, self.pair_scores
        fields = {"a": self.a, "b": self.b, "game": self.game, "games": tally.games}
        fields |= {"wins": tally.wins, "draws": tally.draws, "losses": tally.losses, "score": tally.score}
        fields |= {"score_ci95": list(score_interval(pairs)), "elo": finite_or_none(elo_from_score(tally.score))}
        fields |= {"elo_ci95": [finite_or_none(end) for end in elo_interval(pairs)]}
        fields |= {"distinct_games": self.distinct_games, "elapsed_s": self.elapsed_s}
        fields |= {"seconds_per_move": [self.seconds_a, self.seconds_b]}
        fields |= {"simulations_per_move": [self.simulations_a, self.simulations_b], "sprt": self.sprt}
        clock = None if self.time_use is None else self.time_use.to_json()
        return fields | {"failure": self.failure, "clock": clock}


class Unfinished(EngineFailed):
    """A match ended before its last game because an engine failed.

    Attributes:
      result: the finished games; None if there are none.
    """

    result: MatchResult | None = None


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a match.

    Attributes:
      result: the finished games; None if there are none.
    """

    result: MatchResult | None = None


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


def play_match(
    a: Agent,
    b: Agent,
    game: Game,
    num_games: int,
    seed: int = 0,
    opening_plies: int = OPENING_PLIES,
    sprt: Sprt | None = None,
    on_games: Callable[[int, Tally], None] = lambda finished, tally: None,
) -> MatchResult:
    """Plays `num_games` games, or fewer if an SPRT decides. If the number is odd, the last game is a pair by itself.

    Args:
      opening_plies: random plies at the start of a pair, or one fewer; 0 starts from the initial position.
      on_games: called with the number of games that have just ended, and the tally so far.

    Raises:
      BadInput: `num_games` is less than 1, or `opening_plies` less than 0.
      Unfinished: an engine failed. The exception has the finished games.
      Interrupted: Ctrl-C. The exception has the finished games.
    """
    _check_numbers(num_games, opening_plies)
    before = [spent_by(agent) for agent in (a, b)]
    drawn, openings = draw_openings(game, opening_plies, seed), list[State]()
    results: list[GameResult] = []
    decision = early_end = None
    at_once = _num_at_once(a, b, sprt)
    openings += islice(drawn, (min(at_once, num_games) + 1) // 2)
    _start(a, b, openings, range(min(at_once, num_games)))  # compiles, if necessary, outside the measured time
    begin = time.perf_counter()
    for first in range(0, num_games, at_once):
        numbers = range(first, min(first + at_once, num_games))
        openings += islice(drawn, (numbers.stop + 1) // 2 - len(openings))
        try:
            for finished in _play_side_by_side(a, b, openings, numbers):
                results += finished
                on_games(len(finished), tally_of(results))
        except (EngineFailed, KeyboardInterrupt) as error:
            early_end = early_end_of(error, f"after {len(results)} of {num_games} games")
        results.sort(key=lambda result: (result.pair, not result.a_is_first))
        if sprt and not early_end and (numbers.stop % 2 == 0 or numbers.stop == num_games):  # only whole pairs count
            decision = _first_decision(sprt, pair_scores(without_repeats(results)))
        if decision or early_end:
            break
    return finish(a, b, game, results, time.perf_counter() - begin, before, decision, early_end)


def finish(
    a: Agent,
    b: Agent,
    game: Game,
    results: list[GameResult],
    elapsed_s: float,
    before: Sequence[np.ndarray],
    decision: str | None,
    early_end: Unfinished | Interrupted | None,
    time_use: TimeUse | None = None,
) -> MatchResult:
    """Returns the result of a match; raises `early_end` with this result if there is one.

    Args:
      before: what `spent_by` returned for both agents before the match.
    """
    spent = [spent_by(agent) - earlier for agent, earlier in zip((a, b), before, strict=True)]
    (seconds_a, simulations_a), (seconds_b, simulations_b) = ((each[:2] / max(each[2], 1)).tolist() for each in spent)
    costs = (elapsed_s, seconds_a, seconds_b, simulations_a, simulations_b)
    failure = str(early_end) if early_end else None
    match = MatchResult(a.name, b.name, str(game), results, *costs, decision, failure, time_use)
    if early_end:
        early_end.result = match if results else None
        raise early_end
    return match


def _check_numbers(num_games: int, opening_plies: int) -> None:
    if num_games < 1:
        raise BadInput(f"games = {num_games} should be 1 or more")
    if opening_plies < 0:
        raise BadInput(f"opening plies = {opening_plies} should be 0 or more")


def early_end_of(error: EngineFailed | KeyboardInterrupt, when: str) -> Unfinished | Interrupted:
    """Returns the exception that ends the match; its `result` is not set yet."""
    if isinstance(error, KeyboardInterrupt):
        return Interrupted(f"stopped {when}")
    return Unfinished(f"the match ended {when}: {error}")


def _num_at_once(a: Agent, b: Agent, sprt: Sprt | None) -> int:
    """Returns how many games are played at the same time: fewer with an SPRT, which may need few games."""
    if not (a.plays_side_by_side and b.plays_side_by_side):
        return 1
    return _SIDE_BY_SIDE // 4 if sprt else _SIDE_BY_SIDE


def spent_by(agent: Agent) -> np.ndarray:
    """Returns the seconds, simulations and moves of an agent so far."""
    return np.array([agent.seconds, agent.simulations, agent.moves], float)


def _first_decision(sprt: Sprt, scores: Sequence[float]) -> str | None:
    """Returns the test's first decision, when the pairs are added one by one."""
    decisions = (sprt.decide(scores[:num]) for num in range(1, len(scores) + 1))
    return next((decision for decision in decisions if decision), None)


def _start(a: Agent, b: Agent, openings: Sequence[State], numbers: Sequence[int]) -> list[State]:
    """Starts the games of these numbers with both agents; returns their first positions."""
    states = [openings[number // 2].clone() for number in numbers]
    for agent in (a, b):
        agent.start(len(numbers), states, numbers[0])
    return states


def _play_side_by_side(
    a: Agent, b: Agent, openings: Sequence[State], numbers: Sequence[int]
) -> Iterator[list[GameResult]]:
    """Plays the games of these numbers, one per slot. Games 2p and 2p + 1 have opening p. Yields games as they end."""
    states = _start(a, b, openings, numbers)
    playing = list(range(len(numbers)))
    while playing:
        ended = {}
        for agent, is_a in ((a, True), (b, False)):
            turn = [slot for slot in playing if (states[slot].current_player() == numbers[slot] % 2) == is_a]
            for slot, action in zip(turn, agent.choose(turn) if turn else [], strict=True):
                if action == RESIGN:
                    ended[slot] = _result(numbers[slot], states[slot], 0.0 if is_a else 1.0)
                    continue
                states[slot].apply_action(action)
                if states[slot].is_terminal():
                    returns = states[slot].returns()[numbers[slot] % 2]
                    ended[slot] = _result(numbers[slot], states[slot], (returns + 1.0) / 2.0)
                else:
                    a.advance(slot, action)
                    b.advance(slot, action)
            playing = [slot for slot in playing if slot not in ended]
        if ended:
            yield list(ended.values())


def _result(number: int, state: State, score: float) -> GameResult:
    """Returns the result of the game of this number; `score` is A's."""
    return GameResult(number // 2, number % 2 == 0, tuple(state.history()), score)
