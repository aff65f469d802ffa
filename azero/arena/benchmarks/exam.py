"""Solved positions that a pool of workers searches and judges. The answers are those of one process."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from azero.arena.agents.specs import AgentSpec, game_of_spec, make_from
from azero.arena.benchmarks.benchmark import (
    POSITIONS_AT_ONCE,
    Answers,
    BenchmarkResult,
    answer,
    check_game,
    evaluate_on_benchmark,
    result_of,
)
from azero.arena.benchmarks.files import Benchmark, Problem
from azero.arena.benchmarks.judges import Judge, judge_for
from azero.arena.matches.meetings import WORKERS_AGENTS, for_a_worker, for_workers_of
from azero.games import Game
from azero.system.worker_pool import Pool

_MOST_PARTS = 256  # of a set without a net, until they have as many positions as with one


@dataclass(frozen=True, eq=False)
class Exam:
    """What all parts have in common: the agent, and the positions of each set, as plain data."""

    agent: AgentSpec
    sets: tuple[tuple["_Position", ...], ...]


class _Position(NamedTuple):
    """A `Problem`, with the actions that lead to its position."""

    actions: tuple[int, ...]
    score: float
    keeping: frozenset[int] | None


class Part(NamedTuple):
    """A task: some positions of a set."""

    number: int  # of the set
    first: int
    stop: int


def examine(
    spec: AgentSpec,
    benchmark: Benchmark,
    pool: Pool | None,
    on_positions: Callable[[int], None] = lambda num: None,
) -> BenchmarkResult:
    """Returns the result of `evaluate_on_benchmark` for the agent of a spec.

    Args:
      pool: the workers that search and judge; None: this process, as for agents that are other programs.
      on_positions: called with the number of positions that have just been judged. It is negative if a worker has died.
    """
    if pool is None or spec.is_program:
        with closing(make_from(spec)) as agent:
            return evaluate_on_benchmark(agent, benchmark, on_positions)
    check_game(spec.name, game_of_spec(spec), benchmark)
    begin = time.perf_counter()
    sets = tuple(tuple(map(_plain, each.problems)) for each in benchmark.sets)
    parts = [part for number, own in enumerate(sets) for part in _split(number, len(own), bool(spec.checkpoint))]
    answers: dict[int, Answers] = {}
    exam = Exam(for_workers_of(pool, spec), sets)
    with closing(pool.run(answer_part, parts, on_positions, exam, "solved positions")) as finished:
        answers.update(finished)
    whole: list[Answers | None] = [None] * len(sets)
    for place, part in enumerate(parts):
        before = whole[part.number]
        whole[part.number] = before + answers[place] if before else answers[place]
    return result_of(spec.name, benchmark, [each for each in whole if each], time.perf_counter() - begin)


def answer_part(exam: Exam, part: Part, on_positions: Callable[[int], None]) -> Answers:
    """Searches and judges the positions of a part in a worker process."""
    agent = WORKERS_AGENTS.one(for_a_worker(exam.agent))
    problems = [_problem_of(each, agent.game) for each in exam.sets[part.number]]
    return answer(agent, _judge(agent.game), problems, range(part.first, part.stop), on_positions)


@lru_cache(1)
def _judge(game: Game) -> Judge:
    """Returns a game's judge, which remembers what it has solved."""
    return judge_for(game)


def _split(number: int, num_positions: int, has_net: bool) -> Sequence[Part]:
    """Returns the parts of a set."""
    size = POSITIONS_AT_ONCE if has_net else min(POSITIONS_AT_ONCE, num_positions // _MOST_PARTS + 1)
    return [Part(number, first, min(first + size, num_positions)) for first in range(0, num_positions, size)]


def _plain(problem: Problem) -> _Position:
    return _Position(tuple(problem.state.history()), problem.score, problem.keeping)


def _problem_of(position: _Position, game: Game) -> Problem:
    state = game.new_initial_state()
    for action in position.actions:
        state.apply_action(action)
    return Problem(state, position.score, position.keeping)
