"""Matches: pairs of games from random openings with colours swapped. Games run at the same time if both agents can."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import RESIGN, Thought
from azero.arena.matches.course import Course
from azero.arena.matches.openings import OPENING_PLIES, check_numbers, draw_openings
from azero.arena.matches.results import GameResult, MatchResult, early_end_of, finish, spent_by
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
    at_once = games_at_once(sprt) if a.plays_side_by_side and b.plays_side_by_side else 1
    course = Course(range(2 * first_pair, 2 * first_pair + num_games), at_once, sprt)
    drawn = islice(draw_openings(game, opening_plies, seed), first_pair, None)
    openings: dict[int, State] = {}
    slots = len(next(course.blocks()))
    early_end = begin = None
    for numbers in course.blocks():
        missing = range(first_pair + len(openings), (numbers.stop + 1) // 2)
        openings.update(zip(missing, drawn, strict=False))
        if begin is None:
            first = min(slots, a.most_slots, b.most_slots)
            _start(a, b, openings, numbers[:first], first)  # compiles, if necessary, outside the measured time
            begin = time.perf_counter()
        try:
            for finished in play_games(a, b, openings, numbers, slots, keeps_thoughts):
                course.add(finished)
                on_games(len(finished), course.tally)
        except (EngineFailed, KeyboardInterrupt) as error:
            early_end = early_end_of(error, f"after {len(course.results)} of {num_games} games")
        if early_end or course.is_over:
            break
    assert begin is not None, "a match has a game"
    spent = [spent_by(agent) - earlier for agent, earlier in zip((a, b), before, strict=True)]
    elapsed_s = time.perf_counter() - begin
    return finish((a.name, b.name), str(game), course.results, elapsed_s, spent, course.decision, early_end)


def games_at_once(sprt: Sprt | None) -> int:
    """Returns how many games are played at the same time: fewer with an SPRT, which may need few games."""
    return _SIDE_BY_SIDE // 4 if sprt else _SIDE_BY_SIDE


def play_games(
    a: Agent, b: Agent, openings: Mapping[int, State], numbers: Sequence[int], slots: int, keeps_thoughts: bool
) -> Iterator[list[GameResult]]:
    """Plays the games of these numbers, side by side. Games 2p and 2p + 1 have opening p. Yields games as they end.

    Args:
      openings: the positions at which games begin, by pair.
      slots: most games at the same time; fewer if the agents' memory has no room for them. All parts of a match have
        the same number, so that a game does not depend on the part that it is in.
    """
    slots = min(slots, a.most_slots, b.most_slots)
    for first in range(0, len(numbers), slots):
        yield from _play_together(a, b, openings, numbers[first : first + slots], slots, keeps_thoughts)


def _play_together(
    a: Agent, b: Agent, openings: Mapping[int, State], numbers: Sequence[int], slots: int, keeps_thoughts: bool
) -> Iterator[list[GameResult]]:
    """Plays games side by side, at most `slots` of them. Yields games as they end."""
    states = _start(a, b, openings, numbers, slots)
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


def _start(a: Agent, b: Agent, openings: Mapping[int, State], numbers: Sequence[int], slots: int) -> list[State]:
    """Starts the games of these numbers with both agents; returns their first positions."""
    states = [openings[number // 2].clone() for number in numbers]
    for agent in (a, b):
        agent.start(slots, states, numbers[0])
    return states


def _result(
    number: int,
    openings: Mapping[int, State],
    state: State,
    score: float,
    thoughts: Sequence[Thought | None],
    termination: str = "",
) -> GameResult:
    """Returns the result of the game of this number; `score` is A's."""
    pair, plies = number // 2, len(openings[number // 2].history())
    history = tuple(state.history())
    return GameResult(pair, number % 2 == 0, history, score, plies, termination, tuple(thoughts))
