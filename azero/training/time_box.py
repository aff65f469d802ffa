"""A run of about M minutes: a trial of the config is measured, and the numbers of iterations and games chosen by it.

A trial is a run of an iteration in a folder of its own, which is removed. So the run itself is exactly the run that has
the chosen numbers in its config.
"""

import contextlib
import io
import shutil
import tempfile
import time
from dataclasses import dataclass
from math import inf
from pathlib import Path

from azero.compiler.cache import cache_directory
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games.sizes import games_of
from azero.runs.folder import RunFolder, check_is_new
from azero.runs.metrics import read_metrics
from azero.runs.shards import check_largest
from azero.selfplay.workers import MakePool, count_workers, local_pool
from azero.system.console import say
from azero.training.beginning import read_beginning
from azero.training.learning.optimizer import steps_for
from azero.training.loop import train_run

_FEWEST_ITERATIONS = 5
"""If not even these fit, iterations have fewer games. With fewer iterations a net hardly learns from its own games."""

_FEWEST_GAMES = 8
"""Games of an iteration, and at least one of each size. With fewer, the run takes longer than wanted."""

_FEW = 8  # games, and simulations per move, of the short trial

_PAIRS_IN_FINAL = 10  # of five nets

_KILLED_S = 7 * 86_400.0  # after this time, the folder of a trial is that of a process that was killed


@dataclass(frozen=True)
class Costs:
    """Seconds that parts of a run take."""

    game_s: float  # of self-play, with the training on its positions
    iteration_s: float  # the rest of an iteration: gate, and its share of evaluations
    run_s: float = 0.0  # what happens once: training on games from elsewhere, the final, the last evaluation


@dataclass(frozen=True)
class Counts:
    """The chosen numbers."""

    iterations: int
    games: int  # of an iteration

    def seconds(self, costs: Costs) -> float:
        """Returns how long the run takes."""
        return costs.run_s + self.iterations * (costs.iteration_s + self.games * costs.game_s)


def fit_to_time(folder: Path, config: Config, minutes: float, make_pool: MakePool = local_pool) -> Config:
    """Returns the settings with numbers of iterations and games by which a new run takes about `minutes`, trials
    included; prints what was measured and chosen. The user has named the config.

    Raises BadInput if no run can begin in `folder`, or with these settings.
    """
    if not 0 < minutes < inf:
        raise BadInput(f"--minutes {minutes:g} should be a number of minutes greater than 0, e.g. --minutes 10")
    check_is_new(folder)
    games = games_of(config.game)
    check_largest(games[-1], config.selfplay, len(games))
    first = read_beginning(config, games).shards  # raises errors before trials
    begin = time.perf_counter()
    say(f"--minutes {minutes:g}: measuring an iteration first")
    costs = measure(config, sum(shard.num_learnt for _, shard in first), make_pool)
    trials_s = time.perf_counter() - begin
    fewest = max(_FEWEST_GAMES, len(config.game.sizes))
    counts = choose_counts(costs, config.selfplay.games_per_iteration, 60 * minutes - trials_s, fewest)
    say(describe(counts, costs, config, minutes, trials_s))
    return _with_counts(config, counts)


def choose_counts(costs: Costs, games: int, seconds: float, fewest_games: int = _FEWEST_GAMES) -> Counts:
    """Returns the most iterations of `games` games that fit `seconds`; if these are too few, fewer games for each."""
    left = seconds - costs.run_s
    iterations = int(left / (costs.iteration_s + games * costs.game_s))
    if iterations >= _FEWEST_ITERATIONS:
        return Counts(iterations, games)
    affordable = int((left / _FEWEST_ITERATIONS - costs.iteration_s) / costs.game_s)
    return Counts(_FEWEST_ITERATIONS, min(games, max(fewest_games, affordable)))


def describe(counts: Counts, costs: Costs, config: Config, minutes: float, trials_s: float) -> str:
    """Returns what was measured and chosen, in one line."""
    games, chosen = config.selfplay.games_per_iteration, f"training.iterations = {counts.iterations}"
    full_s = costs.iteration_s + games * costs.game_s
    text = f"measured for {trials_s:.0f} s: an iteration of {games} games takes about {full_s:.1f} s"
    if counts.games != games:
        chosen += f" and selfplay.games_per_iteration = {counts.games}; the net will learn from fewer games than usual"
    total_s = trials_s + counts.seconds(costs)
    if total_s > 1.1 * 60 * minutes:
        chosen += f". This is the shortest run, and it takes about {total_s / 60:.1f} minutes instead of {minutes:g}"
    return f"{text}; chosen: {chosen}"


def measure(config: Config, first_positions: int = 0, make_pool: MakePool = local_pool) -> Costs:
    """Returns the costs by a trial, after a short one that compiles kernels and chooses the runtime; raises BadInput.

    Args:
      first_positions: number of positions from elsewhere that the run begins with.
    """
    _remove_killed_trials()
    trial = _trial_of(config)
    _try(_short(trial), make_pool)
    return costs_of(_try(trial, make_pool), config, first_positions)


def _trial_of(config: Config) -> Config:
    """Returns the settings of a trial: an iteration with its gate and evaluation.

    The games are those that all workers play side by side. Fewer games would take almost as long. A part of the steps
    is enough, since all take the same time.
    """
    play, workers = config.selfplay, count_workers(config)
    per_shard = min(play.games_per_shard, play.parallel_games, -(-play.games_per_iteration // workers))
    num_games = min(play.games_per_iteration, max(workers * per_shard, len(config.game.sizes)))
    return _changed(
        config,
        selfplay={"games_per_iteration": num_games, "games_per_shard": per_shard},
        replay={"first_games": "none"},
        training={"iterations": 1, "samples_per_position": min(1.0, config.training.samples_per_position)},
        gate={"final_games": 0},
    )


def _short(trial: Config) -> Config:
    """Returns the settings of a trial that takes hardly longer than what happens only once on a machine."""
    few = {"games": 2 * max(1, len(trial.game.sizes)), "num_simulations": min(_FEW, trial.selfplay.num_simulations)}
    return _changed(
        trial,
        selfplay={
            "games_per_iteration": max(_FEW, len(trial.game.sizes)),
            "num_simulations": few["num_simulations"],
            "full_search_share": 1.0,
        },
        gate=few,
        evaluation=few | {"benchmark_positions": 1},
    )


def _changed(config: Config, **sections: dict) -> Config:
    """Returns the settings with changes in the given sections."""
    new = {name: getattr(config, name).model_copy(update=values) for name, values in sections.items()}
    return config.model_copy(update=new)


def _try(trial: Config, make_pool: MakePool) -> dict:
    """Runs a trial in a folder of its own, silently; returns the metrics of its last iteration."""
    with tempfile.TemporaryDirectory(dir=cache_directory(), prefix="trial-") as folder:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            train_run(Path(folder) / "run", trial, False, make_pool=make_pool)
        return read_metrics(RunFolder(Path(folder) / "run").metrics_path)[-1]


def _remove_killed_trials() -> None:
    for folder in cache_directory().glob("trial-*"):
        with contextlib.suppress(OSError):  # another process may remove it at the same time
            if time.time() - folder.stat().st_mtime > _KILLED_S:
                shutil.rmtree(folder)


def costs_of(line: dict, config: Config, first_positions: int = 0) -> Costs:
    """Returns the costs of a run from the metrics of a trial's last iteration, and what `measure` gets."""
    training, num_games = config.training, line["selfplay/games"]
    step_s = line["time/train_s"] / line["train/steps"]
    steps = training.samples_per_position / training.batch_size * line["selfplay/positions"] / num_games
    evaluation_s = line.get("time/evaluation_s", 0.0)
    first_s = steps_for(training, first_positions) * step_s if first_positions else 0.0
    gates_in_final = _PAIRS_IN_FINAL * config.gate.final_games / config.gate.games
    return Costs(
        game_s=line["time/play_s"] / num_games + steps * step_s,
        iteration_s=line["time/gate_s"] + evaluation_s / max(1, config.evaluation.every),
        run_s=first_s + evaluation_s + gates_in_final * line["time/gate_s"],
    )


def _with_counts(config: Config, counts: Counts) -> Config:
    """Returns the settings with these numbers, as --set would change them."""
    return _changed(config, training={"iterations": counts.iterations}, selfplay={"games_per_iteration": counts.games})
