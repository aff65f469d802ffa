"""Tests an agent on solved positions: how often its moves are mistakes, with search and by the net alone.

A mistake is a move with a worse result than the best move's.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.search_agent import SearchAgent
from azero.arena.agents.suggestion import RESIGN
from azero.arena.benchmarks.files import Benchmark, Problem, ProblemSet
from azero.arena.benchmarks.judges import Judge, judge_for
from azero.arena.matches.statistics import score_interval
from azero.errors import BadInput
from azero.games import LOSS
from azero.mcts import nodes_needed

_SIDE_BY_SIDE = 128  # positions
_SIDE_BY_SIDE_FOR_A_NET = 512  # its batches stay large although searches with proven roots end early
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


def evaluate_on_benchmark(
    agent: Agent, benchmark: Benchmark, on_positions: Callable[[int], None] = lambda num: None
) -> BenchmarkResult:
    """Returns an agent's mistakes in every position, with its search and, if it has a net, by the net alone.

    Args:
      on_positions: called with the number of positions that have just been searched and judged.

    Raises:
      BadInput: the agent plays another game.
    """
    if agent.game != benchmark.game:
        raise BadInput(
            f"benchmark {benchmark.name!r} has positions of {benchmark.game}, but {agent.name} plays {agent.game}"
        )
    begin = time.perf_counter()
    judge = judge_for(agent.game)
    sets = [_evaluate_on_set(agent, judge, each, on_positions) for each in benchmark.sets]
    return BenchmarkResult(agent.name, str(agent.game), benchmark.name, sets, time.perf_counter() - begin)


def _evaluate_on_set(agent: Agent, judge: Judge, given: ProblemSet, on_positions: Callable[[int], None]) -> SetResult:
    problems, before = given.problems, agent.simulations
    by_search = _judge_search(agent, judge, problems, on_positions)
    simulations = (agent.simulations - before) / len(problems)
    by_net, wrong_values = None, None
    is_known = [verdict is not None for verdict in by_search]
    if agent.net_alone is not None:
        actions, results = _choose_by_net(agent, problems)
        by_net = [_is_mistake(judge, *pair) for pair in zip(problems, actions, strict=True)]
        is_known = [known and verdict is not None for known, verdict in zip(is_known, by_net, strict=True)]
        wrong_values = Share(tuple(r != problem.result for r, problem in zip(results, problems, strict=True)))
    return SetResult(
        name=given.name,
        positions=len(problems),
        not_judged=is_known.count(False),
        net_mistakes=_share_of_mistakes(by_net, is_known) if by_net is not None else None,
        net_wrong_values=wrong_values,
        search_mistakes=_share_of_mistakes(by_search, is_known),
        simulations=simulations,
    )


def _share_of_mistakes(verdicts: Sequence[bool | None], is_known: Sequence[bool]) -> Share:
    return Share(tuple(bool(verdict) for verdict, known in zip(verdicts, is_known, strict=True) if known))


def sample_benchmark(
    agent: Agent, benchmark: Benchmark, on_positions: Callable[[int], None] = lambda num: None
) -> dict[str, float]:
    """Returns an agent's mistakes in all sets together, by the metrics' names of a run."""
    result = evaluate_on_benchmark(agent, benchmark, on_positions)
    shares = {
        "benchmark/search_mistakes": [each.search_mistakes for each in result.sets],
        "benchmark/net_mistakes": [each.net_mistakes for each in result.sets if each.net_mistakes],
        "benchmark/net_wrong_values": [each.net_wrong_values for each in result.sets if each.net_wrong_values],
    }
    pooled = {name: Share.of_all(each).share for name, each in shares.items()}
    return {name: share for name, share in pooled.items() if share is not None}


def _judge_search(
    agent: Agent, judge: Judge, problems: Sequence[Problem], on_positions: Callable[[int], None]
) -> list[bool | None]:
    """Returns for each position whether the search's move is a mistake; None if unknown."""
    verdicts: list[bool | None] = []
    at_once = _num_side_by_side(agent)
    for first in range(0, len(problems), at_once):
        some = problems[first : first + at_once]
        agent.start(len(some), [each.state for each in some], first)
        for problem, action in zip(some, agent.choose(range(len(some))), strict=True):
            verdicts.append(_is_mistake(judge, problem, action))
            on_positions(1)
    return verdicts


def _num_side_by_side(agent: Agent) -> int:
    """Returns how many positions are searched together: more with a net, if the memory allows all trees their limit."""
    if isinstance(agent, SearchAgent) and agent.net_alone is not None:
        num_simulations = agent.limit.simulations
        max_nodes = nodes_needed(agent.game, num_simulations, _SIDE_BY_SIDE_FOR_A_NET)
        if max_nodes > (num_simulations + 1) * agent.game.num_actions:
            return _SIDE_BY_SIDE_FOR_A_NET
    return _SIDE_BY_SIDE


def _choose_by_net(agent: Agent, problems: Sequence[Problem]) -> tuple[list[int], list[int]]:
    """Returns for each position the action with the highest prior, and the net's most likely result for the mover."""
    assert agent.net_alone is not None
    logits, results = agent.net_alone(np.stack([each.state.planes() for each in problems]))
    legal = [each.state.legal_actions() for each in problems]
    actions = [some[int(np.argmax(row[some]))] for row, some in zip(logits, legal, strict=True)]
    return actions, _RESULTS[results.argmax(axis=1)].tolist()


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
