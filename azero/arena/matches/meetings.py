"""Meetings are matches as plain data, played in this process, or by a pool of workers. The games are the same.

A match is split in one place, `split`. Its parts are plain data, as are the agents, so a worker on any machine may play
them.
"""

import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.opened import Opened
from azero.arena.agents.specs import AgentSpec, game_of_spec, make_from
from azero.arena.matches.course import Course
from azero.arena.matches.kept import kept_games
from azero.arena.matches.match import games_at_once, play_games, play_match
from azero.arena.matches.openings import OPENING_PLIES, check_numbers, draw_openings
from azero.arena.matches.results import Cost, GameResult, MatchResult, early_end_of, finish, spent_by, tally_of
from azero.arena.matches.statistics import Sprt, Tally
from azero.errors import EngineFailed
from azero.games import Game
from azero.nets.runtimes.session import MATCH_ROWS
from azero.system.machine import count_cores
from azero.system.worker_pool import Pool, WorkersDied

_GAMES_OF_NETS = 2 * MATCH_ROWS
"""Games of a part if an agent has a net: both nets have as many positions at once as a forward pass has rows."""

_MOST_PARTS = 256  # of a match without nets, until they have as many games as with nets


@dataclass(frozen=True)
class Meeting:
    """A match as plain data; see `play_match`."""

    a: AgentSpec
    b: AgentSpec
    num_games: int
    seed: int = 0
    opening_plies: int = OPENING_PLIES
    sprt: Sprt | None = None
    keeps_thoughts: bool = False
    first_pair: int = 0
    out: Path | None = None

    @property
    def course(self) -> Course:
        """Its course before the first game, if neither agent is another program."""
        first = 2 * self.first_pair
        return Course(range(first, first + self.num_games), games_at_once(self.sprt), self.sprt)


class Part(NamedTuple):
    """A task: some games of one of several meetings."""

    meeting: int
    first: int  # number of the first game, an even one
    stop: int  # number after the last game
    slots: int
    openings: tuple[tuple[int, ...], ...]  # the actions of each pair's opening
    done: frozenset[int] = frozenset()  # numbers of games that need not be played


class Played(NamedTuple):
    """The games of a part, and the seconds, simulations, moves and full trees of both agents: [2, 4]."""

    results: list[GameResult]
    spent: np.ndarray


class Agents:
    """Agents that are made from specs, and stay open for further matches: the `most` that were used last."""

    def __init__(self, most: int):
        self._opened = Opened[tuple[AgentSpec, bool], Agent](most, lambda agent: agent.close())

    def pair(self, meeting: Meeting) -> tuple[Agent, Agent]:
        """Returns both agents of a meeting, which are two even if they have the same spec."""
        return self.one(meeting.a), self.one(meeting.b, is_twin=meeting.a == meeting.b)

    def one(self, spec: AgentSpec, is_twin: bool = False) -> Agent:
        """Returns the agent of a spec; with `is_twin`, another one than without."""
        return self._opened.use((spec, is_twin), lambda: make_from(spec))

    def close(self) -> None:
        """Closes all agents."""
        self._opened.close()


def play_meetings(
    meetings: Sequence[Meeting],
    pool: Pool | None = None,
    on_games: Callable[[int, Tally], None] = lambda finished, tally: None,
    agents: Agents | None = None,
) -> list[MatchResult]:
    """Plays several matches; returns their results.

    Args:
      pool: the workers that play; None: this process. Agents that are other programs play in this process.
      on_games: called with the number of games that have just ended, and the tally of the match so far, or of all
        matches if workers play. The number is negative if a worker has died, whose games are played again.
      agents: keeps the agents of this process open; None: the two that were used last stay open until the end.

    Raises: as `play_match`. The exception has the finished games of the match; if workers play, those of all.
    """
    if pool is not None and not any(each.is_program for meeting in meetings for each in _sides(meeting)):
        return _spread(pool, meetings, on_games)
    if agents is not None:
        return [_play(*agents.pair(meeting), meeting, on_games) for meeting in meetings]
    with closing(Agents(2)) as own:
        return play_meetings(meetings, None, on_games, own)


def _play(a: Agent, b: Agent, meeting: Meeting, on_games: Callable[[int, Tally], None]) -> MatchResult:
    return play_match(
        a, b, a.game, meeting.num_games, meeting.seed, meeting.opening_plies, meeting.sprt, on_games,
        meeting.keeps_thoughts, meeting.first_pair, max(meeting.a.threads, meeting.b.threads), meeting.out,
    )  # fmt: skip


def _sides(meeting: Meeting) -> tuple[AgentSpec, AgentSpec]:
    return meeting.a, meeting.b


def split(place: int, meeting: Meeting, game: Game, done: Set[int] = frozenset()) -> Iterator[Part]:
    """Yields the parts of a match, whose place among the meetings is given. No part is in two blocks of its course.

    Games whose numbers are in `done` are left out. A game does not depend on the others of its part.
    Parts with nets are so large that forward passes are full; others are small, since workers share them better.
    """
    blocks = list(meeting.course.blocks())
    if any(each.checkpoint for each in _sides(meeting)):
        size = _GAMES_OF_NETS
    else:
        size = 2 * min(_GAMES_OF_NETS // 2, meeting.num_games // (2 * _MOST_PARTS) + 1)
    openings = islice(draw_openings(game, meeting.opening_plies, meeting.seed), meeting.first_pair, None)
    for block in blocks:
        for first in block[::size]:
            stop = min(first + size, block.stop)
            own = tuple(tuple(each.history()) for each in islice(openings, (stop + 1 - first) // 2))
            finished = frozenset(done & {*range(first, stop)})
            if len(finished) < stop - first:
                yield Part(place, first, stop, len(blocks[0]), own, finished)


WORKERS_AGENTS = Agents(2)
"""The agents of a worker's last part: the next one often has the same."""


def play_part(meetings: Sequence[Meeting], part: Part, on_games: Callable[[int], None]) -> Played:
    """Plays the games of a part in a worker process; calls `on_games` with the number that have just ended."""
    meeting = meetings[part.meeting]
    a, b = agents = WORKERS_AGENTS.pair(replace(meeting, a=for_a_worker(meeting.a), b=for_a_worker(meeting.b)))
    before = [spent_by(each) for each in agents]
    openings = {}
    for pair, actions in enumerate(part.openings, start=part.first // 2):
        openings[pair] = a.game.new_initial_state()
        for action in actions:
            openings[pair].apply_action(action)
    results = []
    numbers = range(part.first, part.stop)
    for finished in play_games(a, b, openings, numbers, part.slots, meeting.keeps_thoughts, part.done):
        results += finished
        on_games(len(finished))
    return Played(results, np.stack([spent_by(each) - earlier for each, earlier in zip(agents, before, strict=True)]))


def for_workers_of(pool: Pool, spec: AgentSpec) -> AgentSpec:
    """Returns the spec of an agent that any worker of a pool can make."""
    return replace(spec, device=spec.device.for_any_machine()) if pool.is_mixed else spec


def for_a_worker(spec: AgentSpec) -> AgentSpec:
    """Returns the spec with a worker's share of this machine: a core, or a GPU and the cores that go with it."""
    threads = 1
    if spec.checkpoint:
        from azero.nets.devices import pick_device

        threads = 1 if pick_device(spec.device.device).type == "cpu" else count_cores()
    return replace(spec, threads=threads)


def _spread(pool: Pool, meetings: Sequence[Meeting], on_games: Callable[[int, Tally], None]) -> list[MatchResult]:
    """Returns the results of matches that workers play. What a decision has made needless is not waited for."""
    for meeting in meetings:
        check_numbers(meeting.num_games, meeting.opening_plies)
    meetings = [replace(each, a=for_workers_of(pool, each.a), b=for_workers_of(pool, each.b)) for each in meetings]
    games = [game_of_spec(meeting.a) for meeting in meetings]
    kept = [
        kept_games(meeting.out, meeting.a, meeting.b, game, meeting.seed, meeting.opening_plies)
        for meeting, game in zip(meetings, games, strict=True)
    ]
    courses = [meeting.course for meeting in meetings]
    for course, own in zip(courses, kept, strict=True):
        course.add(own.results.values())
    tasks = [
        part
        for place, each in enumerate(meetings)
        if not courses[place].is_over
        for part in split(place, each, games[place], kept[place].results.keys())
    ]
    spent: list[dict[int, np.ndarray]] = [{} for _ in meetings]  # by the number of a part's first game
    early_end, begin = None, time.perf_counter()

    def note(num: int) -> None:
        on_games(num, tally_of([result for course in courses for result in course.results]))

    try:
        if num_kept := sum(len(course.results) for course in courses):
            note(num_kept)
        with closing(pool.run(play_part, tasks, note, tuple(meetings), "match")) as finished:
            for number, played in finished:
                place, first, *_ = tasks[number]
                courses[place].add(played.results)
                spent[place][first] = played.spent
                kept[place].add(
                    played.results, Cost(time.perf_counter() - begin, sum(spent[place].values(), np.zeros((2, 4))))
                )
                if all(course.is_over for course in courses):
                    break
    except (EngineFailed, WorkersDied, KeyboardInterrupt) as error:
        done, total = sum(course.tally.games for course in courses), sum(each.num_games for each in meetings)
        early_end = early_end_of(error, f"after {done} of {total} games")
    elapsed_s, failure = time.perf_counter() - begin, str(early_end) if early_end else None
    matches = [
        finish((meeting.a.name, meeting.b.name), str(game), course.results,
               earlier.before.plus(Cost(elapsed_s, _sum_of(course, own))), course.decision, None)
        for meeting, game, course, own, earlier in zip(meetings, games, courses, spent, kept, strict=True)
    ]  # fmt: skip
    if early_end:
        early_end.results = [replace(each, failure=failure) for each in matches]
        early_end.result = next((each for each in early_end.results if each.results), None)
        raise early_end
    return matches


def _sum_of(course: Course, spent: dict[int, np.ndarray]) -> np.ndarray:
    """Returns what both agents have spent on the games that count: [2, 4]."""
    counted = {2 * result.pair for result in course.results}
    return sum((each for first, each in sorted(spent.items()) if first in counted), np.zeros((2, 4)))
