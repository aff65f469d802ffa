"""Matches as plain data, played in this process, or by a pool of workers. The games are the same.

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
from azero.arena.agents.specs import (
    WORKERS_AGENTS,
    AgentSpec,
    OpenAgents,
    for_a_worker,
    for_workers_of,
    game_of_spec,
)
from azero.arena.matches.course import Course
from azero.arena.matches.kept import kept_games
from azero.arena.matches.match import games_at_once, play_games, play_match
from azero.arena.matches.openings import OPENING_PLIES, check_numbers, draw_openings
from azero.arena.matches.results import Cost, GameResult, MatchResult, early_end_of, finish, spent_by, tally_of
from azero.arena.matches.statistics import Sprt, Tally
from azero.errors import EngineFailed
from azero.games import Game
from azero.nets.runtimes.session import MATCH_ROWS
from azero.system.worker_pool import Pool, WorkersDied

_GAMES_OF_NETS = 2 * MATCH_ROWS
"""Games of a part if an agent has a net: both nets have as many positions at once as a forward pass has rows."""

_MOST_PARTS = 256  # of a match without nets, until they have as many games as with nets


@dataclass(frozen=True)
class MatchSpec:
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
    openings: tuple[str, ...] = ()

    @property
    def course(self) -> Course:
        """Its course before the first game, if neither agent is another program."""
        first = 2 * self.first_pair
        return Course(range(first, first + self.num_games), games_at_once(self.sprt), self.sprt)


class MatchPart(NamedTuple):
    """A task: some games of one of several matches."""

    match: int  # its place among them
    first: int  # number of the first game, an even one
    stop: int  # number after the last game
    slots: int
    openings: tuple[tuple[int, ...], ...]  # the actions of each pair's opening
    done: frozenset[int] = frozenset()  # numbers of games that need not be played


class PartResult(NamedTuple):
    """The games of a part, and the seconds, simulations, moves and full trees of both agents: [2, 4]."""

    results: list[GameResult]
    spent: np.ndarray


def play_matches(
    specs: Sequence[MatchSpec],
    pool: Pool | None = None,
    on_games: Callable[[int, Tally], None] = lambda finished, tally: None,
    agents: OpenAgents | None = None,
) -> list[MatchResult]:
    """Plays several matches; returns their results.

    Args:
      pool: the workers that play; None: this process. Agents that are other programs play in this process.
      on_games: called with the number of games that have just ended, and the tally of the match so far, or of all
        matches if workers play. The number is negative if a worker has died, whose games are played again.
      agents: keeps the agents of this process open; None: the two that were used last stay open until the end.

    Raises: as `play_match`. The exception has the finished games of the match; if workers play, those of all.
    """
    if pool is not None and not any(each.is_program for spec in specs for each in (spec.a, spec.b)):
        return _spread(pool, specs, on_games)
    if agents is not None:
        return [_play(*agents.pair(spec.a, spec.b), spec, on_games) for spec in specs]
    with closing(OpenAgents(2)) as own:
        return play_matches(specs, None, on_games, own)


def _play(a: Agent, b: Agent, spec: MatchSpec, on_games: Callable[[int, Tally], None]) -> MatchResult:
    return play_match(
        a, b, a.game, spec.num_games, spec.seed, spec.opening_plies, spec.sprt, on_games,
        spec.keeps_thoughts, spec.first_pair, max(spec.a.threads, spec.b.threads), spec.out,
        spec.openings,
    )  # fmt: skip


def split(place: int, spec: MatchSpec, game: Game, done: Set[int] = frozenset()) -> Iterator[MatchPart]:
    """Yields the parts of a match, whose place among several is given. No part is in two blocks of its course.

    Games whose numbers are in `done` are left out. A game does not depend on the others of its part.
    Parts with nets are so large that forward passes are full; others are small, since workers share them better.
    """
    blocks = list(spec.course.blocks())
    if spec.a.checkpoint or spec.b.checkpoint:
        size = _GAMES_OF_NETS
    else:
        size = 2 * min(_GAMES_OF_NETS // 2, spec.num_games // (2 * _MOST_PARTS) + 1)
    openings = islice(draw_openings(game, spec.opening_plies, spec.seed, spec.openings), spec.first_pair, None)
    for block in blocks:
        for first in block[::size]:
            stop = min(first + size, block.stop)
            own = tuple(tuple(each.history()) for each in islice(openings, (stop + 1 - first) // 2))
            finished = frozenset(done & {*range(first, stop)})
            if len(finished) < stop - first:
                yield MatchPart(place, first, stop, len(blocks[0]), own, finished)


def play_part(specs: Sequence[MatchSpec], part: MatchPart, on_games: Callable[[int], None]) -> PartResult:
    """Plays the games of a part in a worker process; calls `on_games` with the number that have just ended."""
    spec = specs[part.match]
    a, b = agents = WORKERS_AGENTS.pair(for_a_worker(spec.a), for_a_worker(spec.b))
    before = [spent_by(each) for each in agents]
    openings = {}
    for pair, actions in enumerate(part.openings, start=part.first // 2):
        openings[pair] = a.game.new_initial_state()
        for action in actions:
            openings[pair].apply_action(action)
    results = []
    numbers = range(part.first, part.stop)
    for finished in play_games(a, b, openings, [numbers], part.slots, spec.keeps_thoughts, part.done):
        results += finished
        on_games(len(finished))
    spent = [spent_by(each) - earlier for each, earlier in zip(agents, before, strict=True)]
    return PartResult(results, np.stack(spent))


def _spread(pool: Pool, specs: Sequence[MatchSpec], on_games: Callable[[int, Tally], None]) -> list[MatchResult]:
    """Returns the results of matches that workers play. What a decision has made needless is not waited for."""
    for spec in specs:
        check_numbers(spec.num_games, spec.opening_plies)
    specs = [replace(each, a=for_workers_of(pool, each.a), b=for_workers_of(pool, each.b)) for each in specs]
    games = [game_of_spec(spec.a) for spec in specs]
    kept = [
        kept_games(spec.out, spec.a, spec.b, game, spec.seed, spec.opening_plies, spec.openings)
        for spec, game in zip(specs, games, strict=True)
    ]
    courses = [spec.course for spec in specs]
    for course, own in zip(courses, kept, strict=True):
        course.add(own.results.values())
    tasks = [
        part
        for place, each in enumerate(specs)
        if not courses[place].is_over
        for part in split(place, each, games[place], kept[place].results.keys())
    ]
    spent: list[dict[int, np.ndarray]] = [{} for _ in specs]  # by the number of a part's first game
    early_end, begin = None, time.perf_counter()

    def note(num: int) -> None:
        on_games(num, tally_of([result for course in courses for result in course.results]))

    try:
        if num_kept := sum(len(course.results) for course in courses):
            note(num_kept)
        with closing(pool.run(play_part, tasks, note, tuple(specs), "match")) as finished:
            for number, part in finished:
                place, first, *_ = tasks[number]
                courses[place].add(part.results)
                spent[place][first] = part.spent
                kept[place].add(
                    part.results, Cost(time.perf_counter() - begin, sum(spent[place].values(), np.zeros((2, 4))))
                )
                if all(course.is_over for course in courses):
                    break
    except (EngineFailed, WorkersDied, KeyboardInterrupt) as error:
        done, total = sum(course.tally.games for course in courses), sum(each.num_games for each in specs)
        early_end = early_end_of(error, f"after {done} of {total} games")
    elapsed_s, failure = time.perf_counter() - begin, str(early_end) if early_end else None
    matches = [
        finish((spec.a.name, spec.b.name), str(game), course.results,
               earlier.before.plus(Cost(elapsed_s, _sum_of(course, own))), course.decision, None)
        for spec, game, course, own, earlier in zip(specs, games, courses, spent, kept, strict=True)
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
