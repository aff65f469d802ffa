"""The gate: candidate against best net. Also the evaluation: the best net against a fixed opponent and a benchmark."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import Limit
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import parse_name
from azero.arena.agents.search_agent import SearchAgent
from azero.arena.agents.specs import AgentSpec, spec_of
from azero.arena.matches.results import GameResult, without_repeats
from azero.arena.matches.specs import MatchSpec, play_matches
from azero.arena.solved.files import Benchmark, read_benchmark, shipped_benchmark_of
from azero.arena.solved.mistakes import evaluate_spec, mistakes_in
from azero.compiler.rng import derive_seed
from azero.config.schema import Config, EvaluationConfig
from azero.errors import EngineFailed
from azero.games import Game, State
from azero.games.names import file_of
from azero.mcts import Settings, TreeSearch, UniformEvaluator, rollout_from_config, selection_from_config
from azero.nets.checkpoint_file import read_card
from azero.runs.state import Progress
from azero.system.machine import count_cores
from azero.system.worker_pool import Pool
from azero.training.report import Report
from azero.training.run import Run


@dataclass(frozen=True)
class Verdict:
    """The result of a gate."""

    is_promoted: bool
    matches: list[list[GameResult]]  # the games of each size, from the candidate's side
    notes: dict


def compile_matches(config: Config, game: Game) -> None:
    """Compiles the kernels of gate and evaluation. It needs no net: this process may be a fork, which can run none."""
    selection, settings = selection_from_config(config.search), Settings.from_config(config.search)
    evaluator, rollout = UniformEvaluator(game.num_actions), rollout_from_config(config.search, game)

    def make_search(num_trees: int, nodes: int, leaves: int) -> TreeSearch:
        return TreeSearch(game, selection, settings, evaluator, num_trees, nodes, rollout=rollout)

    agents: list[Agent] = [SearchAgent("net", game, Limit(1), make_search)]
    if config.evaluation.every and parse_name(config.evaluation.opponent).kind == "classical":
        agents.append(make_agent(config.evaluation.opponent, game))
    for agent in agents:
        agent.player.start(2, [State(game)] * 2, 0)
        agent.close()


def hold_gate(run: Run, progress: Progress, report: Report, pool: Pool | None) -> Verdict:
    """Plays the candidate against the best net, in pairs with colours swapped. A repeated game counts once.

    The first net that has learned from another run's games is promoted in any case, if the best net is random.

    Args:
      pool: the workers that play; None: this process plays all games side by side.
    """
    config, seed = run.config.gate, derive_seed(run.config.seed, "gate", progress.iteration)
    candidate, best = run.candidate_path, run.checkpoint_path(progress.best)
    specs = [
        MatchSpec(spec_of_net(run, candidate, game), spec_of_net(run, best, game), share, seed, config.opening_plies)
        for game, share in _shares_of(run, config.games)
    ]
    with report.stage("gate", config.games, "games") as bar:
        matches = play_matches(specs, pool, lambda num, _: bar.update(num))
    games = [without_repeats(match.results) for match in matches]
    distinct = [result for own in games for result in own]
    score = _mean_score(distinct)
    is_promoted = score >= config.win_rate_threshold or _replaces_random_weights(run.config, progress.iteration)
    notes = {"gate/score": score, "gate/games": len(distinct), "gate/is_promoted": is_promoted}
    return Verdict(is_promoted, [match.results for match in matches], notes | _scores_by_size(run, "gate", games))


def _shares_of(run: Run, num_games: int) -> list[tuple[Game, int]]:
    """Returns the sizes of a run's game, each with its share of a match."""
    return list(zip(run.games, share_match(num_games, len(run.games)), strict=True))


def pairs_of_sizes(run: Run, first: int, num_pairs: int) -> list[tuple[Game, int]]:
    """Returns the sizes that get some of these pairs, and how many. From number `first` on, the sizes take turns."""
    counts = Counter(number % len(run.games) for number in range(first, first + num_pairs))
    return [(run.games[size], count) for size, count in sorted(counts.items())]


def share_match(num_games: int, num_sizes: int) -> list[int]:
    """Returns the games of each size in a match: as many pairs, the first sizes one more if necessary."""
    pairs, more = divmod(num_games // 2, num_sizes)
    shares = [2 * (pairs + (size < more)) for size in range(num_sizes)]
    shares[-1] += num_games % 2
    return shares


def _mean_score(results: Sequence[GameResult]) -> float:
    """Returns the first agent's mean score in [0, 1]."""
    return sum(result.score for result in results) / len(results)


def _scores_by_size(run: Run, stage: str, games: list[list[GameResult]]) -> dict[str, float]:
    """Returns the score at each size, as metrics; none if the game has one size."""
    pairs = zip(run.config.game.sizes, games, strict=False)
    return {f"{stage}/score_size_{size}": _mean_score(own) for size, own in pairs}


def _replaces_random_weights(config: Config, iteration: int) -> bool:
    """Returns whether the candidate is the first that has learned, from another run's games, and the best is random."""
    begins_with_games = config.replay.first_games != "none" and config.training.first_net == "none"
    return iteration == 1 and begins_with_games


def evaluate_best(run: Run, progress: Progress, report: Report, pool: Pool | None) -> dict:
    """Plays the best net against the evaluation's opponent; returns its score, and its mistakes in the benchmark.

    A repeated game counts once.
    """
    config, seed = run.config.evaluation, derive_seed(run.config.seed, "evaluation", progress.iteration)
    path, plies = run.published_path(progress), run.config.gate.opening_plies
    specs = [
        MatchSpec(
            spec_of_net(run, path, game, config.num_simulations),
            spec_of(config.opponent, game, seed, _threads(run), run.config.device),
            share, seed, plies,
        )
        for game, share in _shares_of(run, config.games)
    ]  # fmt: skip
    with report.stage(f"against {config.opponent}", config.games, "games") as bar:
        try:
            games = [
                without_repeats(match.results) for match in play_matches(specs, pool, lambda num, _: bar.update(num))
            ]
        except EngineFailed as error:
            advice = "the run is kept, and goes on with --resume; --set evaluation.opponent=... names another"
            raise EngineFailed(f"{error}; {advice}") from None
    results = [result for own in games for result in own]
    notes = {"evaluation/score": _mean_score(results), "evaluation/games": len(results)}
    notes |= _scores_by_size(run, "evaluation", games)
    return notes | _mistakes_in_benchmark(run, path, report, pool)


def _mistakes_in_benchmark(run: Run, path: Path, report: Report, pool: Pool | None) -> dict:
    """Returns the mistakes of a net in the evaluation's benchmark; none if there is no benchmark."""
    benchmark = find_benchmark(run.config.evaluation, run.game)
    if benchmark is None:
        return {}
    best = spec_of_net(run, path, run.game, run.config.evaluation.num_simulations)
    with report.stage(benchmark.name, benchmark.num_positions, "positions") as bar:
        return mistakes_in(evaluate_spec(best, benchmark, pool, bar.update))


def find_benchmark(config: EvaluationConfig, game: Game) -> Benchmark | None:
    """Returns the evaluation's benchmark, cut to its first positions, or None; raises BadInput if it does not fit."""
    if config.benchmark == "none":
        return None
    name = shipped_benchmark_of(game) if config.benchmark == "auto" else config.benchmark
    return None if name is None else read_benchmark(name, game, config.benchmark_positions)


def spec_of_net(run: Run, path: Path, game: Game, num_simulations: int = 0) -> AgentSpec:
    """Returns an agent for one of the sizes. It searches with the run's present settings, also if the net is older.

    It does not solve its roots, so that matches measure the net. Its name has the absolute path: the name of a run's
    folder may look like another agent's, e.g. gtp:COMMAND.

    Args:
      num_simulations: per move; 0 means those of the gate.
    """
    options = _changed_search(run, path) | {"solve_nodes": 0}
    settings = ",".join(f"{key}={value}" for key, value in options.items())
    name = f"{path.absolute()}({settings})@{num_simulations or run.config.gate.num_simulations}"
    return spec_of(name, game, run.config.seed, _threads(run), run.config.device)


def _changed_search(run: Run, path: Path) -> dict[str, object]:
    """Returns the settings of a search in a match that differ from those in the checkpoint's card, as options."""
    own, present = read_card(path).search, run.config.search.model_dump()
    if present["rollout_weight"] == 0:
        del present["rollout"]
    is_own = file_of(present["selection"], "rule") is not None  # named, so that it has to be used
    changed = {key: value for key, value in present.items() if own.get(key) != value or (key == "selection" and is_own)}
    return {key: str(value).lower() if isinstance(value, bool) else value for key, value in changed.items()}


def _threads(run: Run) -> int:
    return run.config.device.threads or count_cores()
