"""The gate: candidate against best net. Also the evaluation: the best net against a fixed opponent and a benchmark."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from azero.arena.agents.agent import Agent
from azero.arena.agents.names import make_agent
from azero.arena.benchmarks.benchmark import sample_benchmark
from azero.arena.benchmarks.files import Benchmark, read_benchmark, shipped_benchmark_of
from azero.arena.matches.match import play_match, without_repeats
from azero.arena.matches.statistics import Sprt, elo_from_score
from azero.compiler.rng import derive_seed
from azero.config.schema import Config
from azero.config.training import EvaluationConfig
from azero.errors import EngineFailed
from azero.games import Game
from azero.system.machine import count_cores
from azero.training.run import Run
from azero.training.state import Progress
from azero.training.watching.report import Report


@dataclass(frozen=True)
class Verdict:
    """The result of a gate."""

    is_promoted: bool
    elo: float  # of the candidate above the best; finite
    notes: dict


def hold_gate(run: Run, progress: Progress, report: Report) -> Verdict:
    """Plays the candidate against the best net, in pairs with colours swapped. A repeated game counts once.

    The first net that has learned from another run's games is promoted in any case, if the best net is random.
    """
    config, seed = run.config.gate, derive_seed(run.config.seed, "gate", progress.iteration)
    candidate, best = agent_of(run, run.candidate_path), agent_of(run, run.checkpoint_path(progress.best))
    sprt = Sprt(config.elo0, config.elo1) if config.method == "sprt" else None
    with contextlib.closing(candidate), contextlib.closing(best), report.stage("gate", config.games, "games") as bar:
        match = play_match(
            candidate, best, run.game, config.games, seed, config.opening_plies, sprt, lambda num, _: bar.update(num)
        )
    distinct = without_repeats(match.results)
    score = sum(result.score for result in distinct) / len(distinct)
    if sprt is None:
        is_promoted = score >= config.win_rate_threshold
    else:
        is_promoted = match.sprt == "accept"
    is_promoted = is_promoted or _replaces_random_weights(run.config, progress.iteration)
    shrunk = (score * len(distinct) + 0.5) / (len(distinct) + 1)  # keeps the rating finite if all games are won
    notes = {"gate/score": score, "gate/games": len(distinct), "gate/is_promoted": is_promoted}
    return Verdict(is_promoted, elo_from_score(shrunk), notes)


def _replaces_random_weights(config: Config, iteration: int) -> bool:
    """Returns whether the candidate is the first that has learned, from another run's games, and the best is random."""
    begins_with_games = config.replay.first_games != "none" and config.training.first_net == "none"
    return iteration == 1 and begins_with_games


def evaluate_best(run: Run, progress: Progress, report: Report) -> dict:
    """Plays the best net against the evaluation's opponent; returns its score, and its mistakes in the benchmark."""
    config, seed = run.config.evaluation, derive_seed(run.config.seed, "evaluation", progress.iteration)
    best = agent_of(run, run.published_path(progress), config.num_simulations)
    opponent = make_agent(config.opponent, run.game, seed, _threads(run), run.config.device)
    with contextlib.closing(best):
        with contextlib.closing(opponent), report.stage(f"against {config.opponent}", config.games, "games") as bar:
            plies = run.config.gate.opening_plies
            try:
                match = play_match(
                    best, opponent, run.game, config.games, seed, plies, on_games=lambda num, _: bar.update(num)
                )
            except EngineFailed as error:
                advice = "the run is kept, and goes on with --resume; --set evaluation.opponent=... names another"
                raise EngineFailed(f"{error}; {advice}") from None
        notes = {"evaluation/score": match.tally.score, "evaluation/games": match.tally.games}
        benchmark = find_benchmark(config, run.game)
        if benchmark is not None:
            with report.stage(benchmark.name, benchmark.num_positions, "positions") as bar:
                notes |= sample_benchmark(best, benchmark, bar.update)
    return notes


def find_benchmark(config: EvaluationConfig, game: Game) -> Benchmark | None:
    """Returns the evaluation's benchmark, cut to its first positions, or None; raises BadInput if it does not fit."""
    if config.benchmark == "none":
        return None
    name = shipped_benchmark_of(game) if config.benchmark == "auto" else config.benchmark
    return None if name is None else read_benchmark(name, game, config.benchmark_positions)


def agent_of(run: Run, path: Path, num_simulations: int = 0) -> Agent:
    """Returns an agent that does not solve its roots, so that matches measure the net.

    Its name has the absolute path: the name of a run's folder may look like another agent's, e.g. gtp:COMMAND.

    Args:
      num_simulations: per move; 0 means those of the gate.
    """
    name = f"{path.absolute()}(solve_nodes=0)@{num_simulations or run.config.gate.num_simulations}"
    return make_agent(name, run.game, run.config.seed, _threads(run), run.config.device)


def _threads(run: Run) -> int:
    return run.config.device.threads or count_cores()
