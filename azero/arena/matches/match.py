"""Matches: pairs of games from random openings with colours swapped. Games run at the same time if both agents can."""

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from itertools import chain, islice
from pathlib import Path

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.game_player import Thought
from azero.arena.agents.suggestion import RESIGN
from azero.arena.matches.course import Course
from azero.arena.matches.kept import kept_games
from azero.arena.matches.openings import OPENING_PLIES, check_numbers, draw_openings
from azero.arena.matches.results import Cost, GameResult, MatchResult, early_end_of, finish, spent_by
from azero.arena.matches.statistics import Sprt, Tally
from azero.errors import EngineFailed
from azero.games import Game, State
from azero.records.record import RESIGNED

_SIDE_BY_SIDE = 128  # games

Sides = tuple[Agent, Agent]
Openings = Mapping[int, State]  # by pair


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
    threads: int = 1,
    out: str | Path | None = None,
    openings: Sequence[str] = (),
) -> MatchResult:
    """Plays `num_games` games, or fewer if an SPRT decides. If the number is odd, the last game is a pair by itself.

    Args:
      opening_plies: random plies at the start of a pair, or one fewer; 0 starts from the initial position.
      on_games: called with the number of games that have just ended, and the tally so far; first with those of `out`.
      keeps_thoughts: whether the results tell what the agents thought of each move.
      first_pair: the number of the first pair. Its games are those of that number in a match that begins with pair 0.
      threads: games with other programs that are played at the same time, unless an agent has a limit in seconds.
      out: a file that keeps the finished games. The same match goes on from there.
      openings: moves with which the pairs begin, in a random order, in place of random plies; see `read_openings`.

    Raises:
      BadInput: `num_games` is less than 1, `opening_plies` less than 0, or `out` is not a file of this match.
      Unfinished, Interrupted: an engine failed, or Ctrl-C. The exception has the finished games.
    """
    check_numbers(num_games, opening_plies)
    course = _course_of(a, b, range(2 * first_pair, 2 * first_pair + num_games), sprt)
    kept = kept_games(out, a, b, game, seed, opening_plies, openings)
    course.add(kept.results.values())
    slots = len(next(course.blocks()))
    blocks = [] if course.is_over else [each for each in course.blocks() if not kept.results.keys() >= {*each}]
    drawn, early_end = _Drawn(draw_openings(game, opening_plies, seed, openings)), None
    with ExitStack() as stack:
        teams = _teams(a, b, min(threads, len(blocks)), stack)
        for team, numbers in zip(teams, blocks, strict=False):  # compiles, if necessary, outside the measured time
            fitting = min(slots, *(each.player.most_slots for each in team))
            _start(*team, drawn, numbers[:fitting], fitting)
        before, begin = _spent_by(teams), time.perf_counter()
        if len(teams) > 1:
            games = _in_threads(teams, drawn, [*chain.from_iterable(blocks)], keeps_thoughts)
        else:
            games = play_games(a, b, drawn, blocks, slots, keeps_thoughts, kept.results)
        try:
            if course.results:
                on_games(len(course.results), course.tally)
            with closing(games):
                for finished in games:
                    course.add(finished)
                    kept.add(finished, Cost(time.perf_counter() - begin, _spent_by(teams) - before))
                    on_games(len(finished), course.tally)
                    if course.is_over:
                        break
        except (EngineFailed, KeyboardInterrupt) as error:
            early_end = early_end_of(error, f"after {len(course.results)} of {num_games} games")
    return finish((a.name, b.name), str(game), course.results, kept.cost, course.decision, early_end)


def _course_of(a: Agent, b: Agent, numbers: range, sprt: Sprt | None) -> Course:
    return Course(numbers, games_at_once(sprt) if _play_side_by_side(a, b) else 1, sprt)


class _Drawn(dict[int, State]):
    """Openings by pair, drawn when they are first asked for."""

    def __init__(self, openings: Iterator[State]):
        super().__init__()
        self._draw = enumerate(openings)

    def __missing__(self, pair: int) -> State:
        self.update(islice(self._draw, pair + 1 - len(self)))
        return self[pair]


def _play_side_by_side(a: Agent, b: Agent) -> bool:
    return a.player.plays_side_by_side and b.player.plays_side_by_side


def _teams(a: Agent, b: Agent, threads: int, stack: ExitStack) -> list[Sides]:
    """Returns who plays: agents like A and B for each thread, which `stack` closes, or A and B in this thread alone.

    Threads play games with other programs, each with a process of its own. A limit in seconds has the machine alone.
    """
    are_timed = a.limit.seconds is not None or b.limit.seconds is not None
    if threads < 2 or are_timed or _play_side_by_side(a, b) or not (a.remake and b.remake):
        return [(a, b)]
    remade = [a.remake, b.remake] * threads
    made = [stack.enter_context(closing(remake())) for remake in remade]
    return list(zip(made[::2], made[1::2], strict=True))


def _spent_by(teams: Sequence[Sides]) -> np.ndarray:
    """Returns the seconds, simulations, moves and full trees so far, of A's and of B's side, [2, 4]."""
    return np.sum([[spent_by(agent) for agent in team] for team in teams], axis=0)


def _in_threads(
    teams: Sequence[Sides], openings: Openings, numbers: Sequence[int], keeps_thoughts: bool
) -> Generator[list[GameResult]]:
    """Plays games at the same time, each in a thread, by a team that plays nothing else. Yields games as they end."""
    free, waiting = list(teams), iter(numbers)
    running: dict[Future[list[GameResult]], Sides] = {}

    def play(team: Sides, opening: State, number: int) -> list[GameResult]:
        own = {number // 2: opening}
        return list(chain.from_iterable(play_games(*team, own, [range(number, number + 1)], 1, keeps_thoughts)))

    with ThreadPoolExecutor(len(teams)) as threads:
        try:
            while True:
                for number in islice(waiting, len(free)):
                    team = free.pop()
                    running[threads.submit(play, team, openings[number // 2], number)] = team
                if not running:
                    return
                ended = wait(running, return_when=FIRST_COMPLETED).done
                for each in sorted(ended, key=lambda each: each.exception() is not None):
                    free.append(running.pop(each))
                    yield each.result()
        finally:
            for team in running.values():  # the answers that threads wait for do not come then
                for agent in team:
                    if not agent.player.plays_side_by_side:
                        agent.close()


def games_at_once(sprt: Sprt | None) -> int:
    """Returns how many games are played at the same time: fewer with an SPRT, which may need few games."""
    return _SIDE_BY_SIDE // 4 if sprt else _SIDE_BY_SIDE


def play_games(
    a: Agent,
    b: Agent,
    openings: Openings,
    blocks: Sequence[Sequence[int]],
    slots: int,
    keeps_thoughts: bool,
    done: Collection[int] = (),
) -> Generator[list[GameResult]]:
    """Plays the games of one block after another, those of a block side by side. Yields games as they end.

    Args:
      openings: the positions at which games begin, by pair. Games 2p and 2p + 1 have opening p.
      blocks: the numbers of the games.
      slots: most games at the same time; fewer if the agents' memory has no room for them. All parts of a match have
        the same number, so that a game does not depend on the part that it is in.
      done: numbers of games that are finished already, and are not played.
    """
    slots = min(slots, a.player.most_slots, b.player.most_slots)
    for numbers in blocks:
        for first in range(0, len(numbers), slots):
            yield from _play_together(a, b, openings, numbers[first : first + slots], slots, keeps_thoughts, done)


def _play_together(
    a: Agent,
    b: Agent,
    openings: Openings,
    numbers: Sequence[int],
    slots: int,
    keeps_thoughts: bool,
    done: Collection[int],
) -> Iterator[list[GameResult]]:
    """Plays games side by side, at most `slots` of them. Yields games as they end."""
    states = _start(a, b, openings, numbers, slots)
    playing = [slot for slot, number in enumerate(numbers) if number not in done]
    thoughts: list[list[Thought | None]] = [[] for _ in numbers]
    while playing:
        ended = {}
        for player, is_a in ((a.player, True), (b.player, False)):
            turn = [slot for slot in playing if (states[slot].current_player() == numbers[slot] % 2) == is_a]
            for slot, action in zip(turn, player.choose(turn) if turn else [], strict=True):
                if action == RESIGN:
                    score = 0.0 if is_a else 1.0
                    ended[slot] = _result(numbers[slot], openings, states[slot], score, thoughts[slot], RESIGNED)
                    continue
                if keeps_thoughts:
                    thoughts[slot].append(player.thought(slot))
                states[slot].apply_action(action)
                if states[slot].is_terminal():
                    score = (states[slot].returns()[numbers[slot] % 2] + 1.0) / 2.0
                    ended[slot] = _result(numbers[slot], openings, states[slot], score, thoughts[slot])
                else:
                    a.player.advance(slot, action)
                    b.player.advance(slot, action)
            playing = [slot for slot in playing if slot not in ended]
        if ended:
            yield list(ended.values())


def _start(a: Agent, b: Agent, openings: Openings, numbers: Sequence[int], slots: int) -> list[State]:
    """Starts the games of these numbers with both agents; returns their first positions."""
    states = [openings[number // 2].clone() for number in numbers]
    for agent in (a, b):
        agent.player.start(slots, states, numbers[0])
    return states


def _result(
    number: int,
    openings: Openings,
    state: State,
    score: float,
    thoughts: Sequence[Thought | None],
    termination: str = "",
) -> GameResult:
    """Returns the result of the game of this number; `score` is A's."""
    pair, plies = number // 2, len(openings[number // 2].history())
    history = tuple(state.history())
    return GameResult(pair, number % 2 == 0, history, score, plies, termination, tuple(thoughts))
