"""An agent's mistakes in solved positions, with search and by the net alone, found here or by a pool of workers.

A mistake is a move with a worse result than the best move's.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.specs import WORKERS_AGENTS, AgentSpec, for_a_worker, for_workers_of, game_of_spec, make_from
from azero.arena.agents.suggestion import RESIGN
from azero.arena.matches.statistics import score_interval
from azero.arena.solved.files import Benchmark, Problem
from azero.arena.solved.judges import Judge, judge_for
from azero.errors import BadInput
from azero.games import LOSS, Game, State
from azero.system.worker_pool import Pool

_SIDE_BY_SIDE = 128  # positions
_SIDE_BY_SIDE_FOR_A_NET = 512  # its batches stay large although searches with proven roots end early
POSITIONS_AT_ONCE = 64
"""Positions of a set that a net judges together, by itself. Rounding may depend on which these are."""
_MOST_PARTS = 256  # of a set without a net that workers share, until they have as many positions as with one
_RESULTS = np.array([1, 0, -1])  # in the order of a net's result logits


@dataclass(frozen=True)
class Share:
    """The share of cases that are true."""

    cases: tuple[bool, ...]

    @property
    def share(self) -> float | None:
        """In [0, 1]; None without cases."""
        return sum(self.cases) / len(self.cases) if self.cases else None

    @property
    def ci95(self) -> list[float] | None:
        """The ends of Wilson's 95 % interval; None without cases."""
        return list(score_interval(self.cases)) if self.cases else None

    @staticmethod
    def of_all(shares: Sequence["Share"]) -> "Share":
        """Returns the share of the cases of all these shares together."""
        return Share(tuple(case for each in shares for case in each.cases))


@dataclass(frozen=True)
class SetResult:
    """An agent's result on one set."""

    name: str
    positions: int
    not_judged: int  # positions with a move that the judge cannot decide; both shares of mistakes leave them out
    net_mistakes: Share | None  # None for an agent without a net
    net_wrong_values: Share | None  # positions whose result is not the net's most likely one
    search_mistakes: Share
    simulations: float  # per position

    def to_json(self) -> dict:
        """Returns the set as `azero evaluate --benchmark --json` prints it."""
        fields: dict = {"name": self.name, "positions": self.positions, "not_judged": self.not_judged}
        for name, each in (("net", self.net_mistakes), ("search", self.search_mistakes)):
            fields |= {f"{name}_mistakes": each and each.share, f"{name}_ci95": each and each.ci95}
        wrong = self.net_wrong_values
        return fields | {"net_wrong_values": wrong and wrong.share, "simulations": self.simulations}


@dataclass(frozen=True)
class BenchmarkResult:
    """An agent's result on all sets."""

    agent: str
    game: str
    benchmark: str
    sets: list[SetResult]
    elapsed_s: float

    def to_json(self) -> dict:
        """Returns the object that `azero evaluate --benchmark --json` prints."""
        fields = {"agent": self.agent, "game": self.game, "benchmark": self.benchmark}
        return fields | {"sets": [each.to_json() for each in self.sets], "elapsed_s": self.elapsed_s}


@dataclass(frozen=True)
class Answers:
    """An agent's answers to some positions of a set, in order.

    Attributes:
      by_search: whether the search's move is a mistake; None if unknown.
      by_net: the same for the net alone; None for an agent without a net.
      wrong_values: whether the net's most likely result is wrong; None for an agent without a net.
      simulations: of all these positions.
    """

    by_search: tuple[bool | None, ...]
    by_net: tuple[bool | None, ...] | None
    wrong_values: tuple[bool, ...] | None
    simulations: int

    def __add__(self, later: "Answers") -> "Answers":
        has_net = self.by_net is not None
        by_net = (self.by_net or ()) + (later.by_net or ()) if has_net else None
        wrong_values = (self.wrong_values or ()) + (later.wrong_values or ()) if has_net else None
        return Answers(self.by_search + later.by_search, by_net, wrong_values, self.simulations + later.simulations)


def evaluate_on_benchmark(
    agent: Agent, benchmark: Benchmark, on_positions: Callable[[int], None] = lambda num: None
) -> BenchmarkResult:
    """Returns an agent's mistakes in every position, with its search and, if it has a net, by the net alone.

    Args:
      on_positions: called with the number of positions that have just been searched and judged.

    Raises:
      BadInput: the agent plays another game.
    """
    check_game(agent.name, agent.game, benchmark)
    begin = time.perf_counter()
    judge = judge_for(agent.game)
    answers = [answer(agent, judge, each.problems, range(len(each.problems)), on_positions) for each in benchmark.sets]
    return _result(agent.name, benchmark, answers, time.perf_counter() - begin)


def check_game(agent: str, game: Game, benchmark: Benchmark) -> None:
    """Raises BadInput if the agent of this name plays another game than that of the positions."""
    if game != benchmark.game:
        raise BadInput(f"benchmark {benchmark.name!r} has positions of {benchmark.game}, but {agent} plays {game}")


def answer(
    agent: Agent, judge: Judge, problems: Sequence[Problem], places: range, on_positions: Callable[[int], None]
) -> Answers:
    """Returns an agent's answers to the positions of a set at these places.

    The answers do not depend on the other places, if the first of these is a multiple of POSITIONS_AT_ONCE or the agent
    has no net.
    """
    before = agent.player.simulations
    by_search = _judge_search(agent, judge, problems, places, on_positions)
    simulations = agent.player.simulations - before
    if agent.net_alone is None:
        return Answers(tuple(by_search), None, None, simulations)
    own = problems[places.start : places.stop]
    answers = answers_of_net(agent, [each.state for each in own])
    by_net = tuple(_is_mistake(judge, problem, each.action) for problem, each in zip(own, answers, strict=True))
    wrong_values = tuple(each.result != problem.result for problem, each in zip(own, answers, strict=True))
    return Answers(tuple(by_search), by_net, wrong_values, simulations)


def _result(agent: str, benchmark: Benchmark, answers: Sequence[Answers], elapsed_s: float) -> BenchmarkResult:
    """Returns the result of the agent of this name, given its answers to each set."""
    sets = [_set_result(each.name, own) for each, own in zip(benchmark.sets, answers, strict=True)]
    return BenchmarkResult(agent, str(benchmark.game), benchmark.name, sets, elapsed_s)


def _set_result(name: str, answers: Answers) -> SetResult:
    is_known = [verdict is not None for verdict in answers.by_search]
    if answers.by_net is not None:
        is_known = [known and verdict is not None for known, verdict in zip(is_known, answers.by_net, strict=True)]
    return SetResult(
        name=name,
        positions=len(is_known),
        not_judged=is_known.count(False),
        net_mistakes=_share_of_mistakes(answers.by_net, is_known) if answers.by_net is not None else None,
        net_wrong_values=Share(answers.wrong_values) if answers.wrong_values is not None else None,
        search_mistakes=_share_of_mistakes(answers.by_search, is_known),
        simulations=answers.simulations / len(is_known),
    )


def _share_of_mistakes(verdicts: Sequence[bool | None], is_known: Sequence[bool]) -> Share:
    return Share(tuple(bool(verdict) for verdict, known in zip(verdicts, is_known, strict=True) if known))


def mistakes_in(result: BenchmarkResult) -> dict[str, float]:
    """Returns the mistakes in all sets together, by the metrics' names of a run."""
    shares = {
        "benchmark/search_mistakes": [each.search_mistakes for each in result.sets],
        "benchmark/net_mistakes": [each.net_mistakes for each in result.sets if each.net_mistakes],
        "benchmark/net_wrong_values": [each.net_wrong_values for each in result.sets if each.net_wrong_values],
    }
    pooled = {name: Share.of_all(each).share for name, each in shares.items()}
    return {name: share for name, share in pooled.items() if share is not None}


def _judge_search(
    agent: Agent, judge: Judge, problems: Sequence[Problem], places: range, on_positions: Callable[[int], None]
) -> list[bool | None]:
    """Returns for each of these places of a set whether the search's move is a mistake; None if unknown."""
    verdicts: list[bool | None] = []
    at_once = min(_num_side_by_side(agent), len(problems))
    for first in places[::at_once]:
        some = problems[first : min(first + at_once, places.stop)]
        agent.player.start(at_once, [each.state for each in some], first)
        for problem, action in zip(some, agent.player.choose(range(len(some))), strict=True):
            verdicts.append(_is_mistake(judge, problem, action))
            on_positions(1)
    return verdicts


def _num_side_by_side(agent: Agent) -> int:
    """Returns how many positions are searched together: more with a net, if the memory has room for their trees."""
    return min(agent.player.most_slots, _SIDE_BY_SIDE if agent.net_alone is None else _SIDE_BY_SIDE_FOR_A_NET)


class NetAnswer(NamedTuple):
    """What a net thinks of a position, for the player to move, without a search.

    Attributes:
      action: the legal action with the highest prior.
      result: the most likely result.
      value: in [-1, 1].
    """

    action: int
    result: int
    value: float


def answers_of_net(agent: Agent, states: Sequence[State]) -> list[NetAnswer]:
    """Returns the answer of an agent's net in each position; the agent has a net."""
    answers: list[NetAnswer] = []
    for at in range(0, len(states), POSITIONS_AT_ONCE):
        answers += _judge_by_net(agent, states[at : at + POSITIONS_AT_ONCE])
    return answers


def _judge_by_net(agent: Agent, states: Sequence[State]) -> list[NetAnswer]:
    assert agent.net_alone is not None
    logits, results = agent.net_alone(np.stack([each.planes() for each in states]))
    legal = [each.legal_actions() for each in states]
    actions = [some[int(np.argmax(row[some]))] for row, some in zip(logits, legal, strict=True)]
    likely = _RESULTS[results.argmax(axis=1)].tolist()
    shares = np.exp(results - results.max(axis=1, keepdims=True))
    values = (shares @ _RESULTS / shares.sum(axis=1)).tolist()
    return [NetAnswer(*each) for each in zip(actions, likely, values, strict=True)]


def _is_mistake(judge: Judge, problem: Problem, action: int) -> bool | None:
    """Returns whether an action, or RESIGN, is worse than the best action; None if unknown."""
    if problem.result == LOSS:
        return False
    if action == RESIGN:
        return True
    if problem.keeping is not None:
        return action not in problem.keeping
    keeps = judge.keeps(problem.state, action, problem.result)
    return None if keeps is None else not keeps


class PlainProblem(NamedTuple):
    """A `Problem`, with the actions that lead to its position."""

    actions: tuple[int, ...]
    score: float
    keeping: frozenset[int] | None


@dataclass(frozen=True, eq=False)
class AgentAndSets:
    """What all parts have in common: the agent, and the positions of each set, as plain data."""

    agent: AgentSpec
    sets: tuple[tuple[PlainProblem, ...], ...]


class SetPart(NamedTuple):
    """A task: some positions of a set."""

    number: int  # of the set
    first: int
    stop: int


def evaluate_spec(
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
    shared = AgentAndSets(for_workers_of(pool, spec), sets)
    with closing(pool.run(answer_part, parts, on_positions, shared, "solved positions")) as finished:
        answers.update(finished)
    whole: list[Answers | None] = [None] * len(sets)
    for place, part in enumerate(parts):
        before = whole[part.number]
        whole[part.number] = before + answers[place] if before else answers[place]
    return _result(spec.name, benchmark, [each for each in whole if each], time.perf_counter() - begin)


def answer_part(shared: AgentAndSets, part: SetPart, on_positions: Callable[[int], None]) -> Answers:
    """Searches and judges the positions of a part in a worker process."""
    agent = WORKERS_AGENTS.one(for_a_worker(shared.agent))
    problems = [_problem_of(each, agent.game) for each in shared.sets[part.number]]
    return answer(agent, _judge(agent.game), problems, range(part.first, part.stop), on_positions)


@lru_cache(1)
def _judge(game: Game) -> Judge:
    """Returns a game's judge, which remembers what it has solved."""
    return judge_for(game)


def _split(number: int, num_positions: int, has_net: bool) -> Sequence[SetPart]:
    """Returns the parts of a set."""
    size = POSITIONS_AT_ONCE if has_net else min(POSITIONS_AT_ONCE, num_positions // _MOST_PARTS + 1)
    return [SetPart(number, first, min(first + size, num_positions)) for first in range(0, num_positions, size)]


def _plain(problem: Problem) -> PlainProblem:
    return PlainProblem(tuple(problem.state.history()), problem.score, problem.keeping)


def _problem_of(position: PlainProblem, game: Game) -> Problem:
    state = game.new_initial_state()
    for action in position.actions:
        state.apply_action(action)
    return Problem(state, position.score, position.keeping)
