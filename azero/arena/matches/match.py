"""Matches: pairs of games from random openings with colours swapped. Games run at the same time if both agents can."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import RESIGN, Thought
from azero.arena.matches.openings import OPENING_PLIES, check_numbers, draw_openings
from azero.arena.matches.results import (
    GameResult,
    MatchResult,
    early_end_of,
    finish,
    pair_scores,
    spent_by,
    tally_of,
    without_repeats,
)
from azero.arena.matches.statistics import Sprt, Tally
from azero.errors import EngineFailed
from azero.games import Game, State
from azero.records.record import RESIGNED

_SIDE_BY_SIDE = 128  # games


def play_match(
    a: Agent,
    b: Agent,
    game: Game,
    num_games: int,
    seed: int = 0,
    opening_plies: int = OPENING_PLIES,
    sprt: Sprt | None = None,
    on_games: Callable[[int, Tally], None] = lambda finished, tally: None,
    keeps_thoughts: bool = False,
    first_pair: int = 0,
) -> MatchResult:
    """Plays `num_games` games, or fewer if an SPRT decides. If the number is odd, the last game is a pair by itself.

    Args:
      opening_plies: random plies at the start of a pair, or one fewer; 0 starts from the initial position.
      on_games: called with the number of games that have just ended, and the tally so far.
      keeps_thoughts: whether the results tell what the agents thought of each move.
      first_pair: the number of the first pair. Its games are those of that number in a match that begins with pair 0.

    Raises:
      BadInput: `num_games` is less than 1, or `opening_plies` less than 0.
      Unfinished: an engine failed. The exception has the finished games.
      Interrupted: Ctrl-C. The exception has the finished games.
    """
    check_numbers(num_games, opening_plies)
    before = [spent_by(agent) for agent in (a, b)]
    drawn, openings = draw_openings(game, opening_plies, seed), list[State]()
    results: list[GameResult] = []
    decision = early_end = None
    at_once, begun = _num_at_once(a, b, sprt), 2 * first_pair
    last = begun + num_games
    numbers = range(begun, min(begun + at_once, last))
    openings += islice(drawn, (numbers.stop + 1) // 2)
    _start(a, b, openings, numbers)  # compiles, if necessary, outside the measured time
    begin = time.perf_counter()
    for first in range(begun, last, at_once):
        numbers = range(first, min(first + at_once, last))
        openings += islice(drawn, (numbers.stop + 1) // 2 - len(openings))
        try:
            for finished in _play_side_by_side(a, b, openings, numbers, keeps_thoughts):
                results += finished
                on_games(len(finished), tally_of(results))
        except (EngineFailed, KeyboardInterrupt) as error:
            early_end = early_end_of(error, f"after {len(results)} of {num_games} games")
        results.sort(key=lambda result: (result.pair, not result.a_is_first))
        if sprt and not early_end and (numbers.stop % 2 == 0 or numbers.stop == last):  # only whole pairs count
            decision = _first_decision(sprt, pair_scores(without_repeats(results)))
        if decision or early_end:
            break
    return finish(a, b, game, results, time.perf_counter() - begin, before, decision, early_end)


def _num_at_once(a: Agent, b: Agent, sprt: Sprt | None) -> int:
    """Returns how many games are played at the same time: fewer with an SPRT, which may need few games."""
    if not (a.plays_side_by_side and b.plays_side_by_side):
        return 1
    return _SIDE_BY_SIDE // 4 if sprt else _SIDE_BY_SIDE


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
    a: Agent, b: Agent, openings: Sequence[State], numbers: Sequence[int], keeps_thoughts: bool
) -> Iterator[list[GameResult]]:
    """Plays the games of these numbers, one per slot. Games 2p and 2p + 1 have opening p. Yields games as they end."""
    states = _start(a, b, openings, numbers)
    playing = list(range(len(numbers)))
    thoughts: list[list[Thought | None]] = [[] for _ in numbers]
    while playing:
        ended = {}
        for agent, is_a in ((a, True), (b, False)):
            turn = [slot for slot in playing if (states[slot].current_player() == numbers[slot] % 2) == is_a]
            for slot, action in zip(turn, agent.choose(turn) if turn else [], strict=True):
                if action == RESIGN:
                    score = 0.0 if is_a else 1.0
                    ended[slot] = _result(numbers[slot], openings, states[slot], score, thoughts[slot], RESIGNED)
                    continue
                if keeps_thoughts:
                    thoughts[slot].append(agent.thought(slot))
                states[slot].apply_action(action)
                if states[slot].is_terminal():
                    score = (states[slot].returns()[numbers[slot] % 2] + 1.0) / 2.0
                    ended[slot] = _result(numbers[slot], openings, states[slot], score, thoughts[slot])
                else:
                    a.advance(slot, action)
                    b.advance(slot, action)
            playing = [slot for slot in playing if slot not in ended]
        if ended:
            yield list(ended.values())


def _result(
    number: int,
    openings: Sequence[State],
    state: State,
    score: float,
    thoughts: Sequence[Thought | None],
    termination: str = "",
) -> GameResult:
    """Returns the result of the game of this number; `score` is A's."""
    pair, plies = number // 2, len(openings[number // 2].history())
    history = tuple(state.history())
    return GameResult(pair, number % 2 == 0, history, score, plies, termination, tuple(thoughts))
