"""A run of M minutes: what the machine does is measured, and turned into settings before the run begins.

First come the settings that nobody has given (`suited.py`). Then a tiny run in another folder compiles all that a run
needs; the time of its second iteration is what an iteration takes besides games, steps and gate. Then games, steps and
a gate are measured in full lanes, for a small share of the time. The workers that play there also play the run, since
to start them takes seconds.
"""

import contextlib
import io
import shlex
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from math import ceil, inf
from pathlib import Path
from typing import NamedTuple

import numpy as np

from azero.arena.agents.specs import OpenAgents
from azero.arena.matches.openings import draw_openings
from azero.compiler.beside import compiling_beside
from azero.compiler.cache import cache_directory
from azero.config.checks import check_together
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.games.names import identity_of
from azero.games.sizes import games_of
from azero.mcts import Evaluator, UniformEvaluator
from azero.nets.devices import device_type
from azero.nets.make import make_net
from azero.nets.runtimes.library import LIBRARIES
from azero.nets.runtimes.session import MATCH_ROWS, ROWS
from azero.runs.folder import CONFIG, STATE, RunFolder, check_is_new
from azero.runs.metrics import read_metrics
from azero.runs.shards import check_largest
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.selfplay.data.shard import Shard, join_shards
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.solving import solve_endings
from azero.selfplay.tasks import Identities, PlayPlan, new_plan, open_selfplay
from azero.selfplay.workers import MakePool, count_workers, local_pool, settings_of_workers
from azero.system.console import printable, say
from azero.system.machine import count_cores, peak_memory
from azero.system.worker_pool import Pool
from azero.training.beginning import read_beginning, read_starts
from azero.training.budget import FEWEST_ITERATIONS, Facts, Rates, TooShort, seconds_of, settings_of
from azero.training.gate import compile_matches, spec_of_net
from azero.training.learning.learner import heads_of
from azero.training.learning.precision import settle_arithmetic, step_rates
from azero.training.learning.ranks import generators_of
from azero.training.learning.trainer import Trainer
from azero.training.loop import train_run
from azero.training.run import Run
from azero.training.suited import Look, describe_suited, look_at, suit

_SHARE, _LONGEST_S = 0.05, 30.0
"""What is measured takes this share of the time, and as much again to be opened; at most these seconds."""

LEAST_MINUTES = 0.5
"""With less there is no time to measure anything."""

_COMMAND_S = 3.0
"""Seconds of the command before and after what is timed here: Python starts, and ends."""

_COUNTED = 128  # games in which facts are counted
_SHARPER = 0.9
"""A trained net's search needs so many evaluations, where that of a net that knows nothing needs 1 (decision 50)."""

_FEW = 16  # of these at a time
_SOLVED = 3  # of these parts
_MANY_GAMES = 1 << 20
_SILENT_S = 0.5  # without a call of the net, after which the cache has all positions of the game
_FEW_SIMULATIONS = 4
_EVALUATED, _EVALUATED_PLIES = 8, 1200
"""Fewest games against the opponent in the trial, and plies that these games have about. All games of Connect Four are
played, since most of their time is that of opening nets. Forty games of 200 plies would take minutes.
"""

_KILLED_S = 7 * 86_400.0  # after this time, the folder of a trial is that of a process that was killed


@contextmanager
def fit_to_time(
    folder: Path, config: Config, minutes: float, held: frozenset[str], make_pool: MakePool = local_pool
) -> Iterator[tuple[Config, MakePool]]:
    """Yields the settings with which a new run in `folder` takes about `minutes` in all, and what gives its workers.

    Prints what was measured and chosen. The user has named the config.

    Args:
      held: names of settings that the user has set, which stay.

    Raises BadInput if no run can begin in `folder`, or with these settings, or if the minutes are too few.
    """
    if not LEAST_MINUTES <= minutes < inf:
        raise BadInput(f"--minutes {minutes:g} should be {LEAST_MINUTES:g} or more, e.g. --minutes 10")
    check_is_new(folder)
    with measured(config, minutes, held, make_pool) as trial:
        try:
            chosen = trial.fit(60 * minutes, held)
        except TooShort as error:
            missing_s = error.least_s + trial.used_s - 60 * minutes
            longer_s = 2 * min(_LONGEST_S, _SHARE * missing_s / (1 - 2 * _SHARE))  # that it measures with more minutes
            least = ceil(10 * (error.least_s + trial.used_s + longer_s) / 60) / 10
            raise BadInput(
                f"--minutes {minutes:g} is too short here; the least is --minutes {least:g}. "
                f"It took {trial.used_s:.0f} s to compile and measure; in the rest {FEWEST_ITERATIONS} iterations "
                "should fit. "
                "Other programs slow this down; smaller configs such as tic_tac_toe need less"
            ) from None
        check_largest(trial.games[-1], chosen.selfplay, len(trial.games))
        total_s = trial.used_s + trial.seconds_of(chosen)
        say(f"measured after {trial.used_s:.0f} s: {describe(chosen, trial.rates, total_s)}")
        say(f"to repeat this run: azero train {shlex.quote(printable(str(folder / CONFIG)))} --run NEW")
        yield chosen, lambda config, tell: trial.pool


class Kept(NamedTuple):
    """What a run keeps, in bytes."""

    position: float  # of self-play, in memory and in a file
    net: int  # a checkpoint
    state: int  # the trainer's weights and averages
    process: float  # this one's memory, without positions; infinity if it is unknown


class Trial(NamedTuple):
    """What was measured for a run to come."""

    config: Config  # suited to the game and the time, with the arithmetic that is fastest here
    games: tuple[Game, ...]  # of each size
    look: Look
    facts: Facts
    rates: Rates
    num_first: int  # positions from elsewhere, from which the net learns in iteration 1
    kept: Kept
    used_s: float  # by the trial, and by the command before and after it
    pool: Pool  # of workers that have played, open as long as the trial is

    def fit(self, seconds: float, held: frozenset[str] = frozenset()) -> Config:
        """Returns the settings of a run that takes these seconds, of which the trial has used some; raises TooShort."""
        return settings_of(self.config, self.facts, self.rates, seconds - self.used_s, held, self.num_first)

    def seconds_of(self, config: Config) -> float:
        """Returns how long a run with these settings takes, from its first iteration to its end."""
        return seconds_of(config, self.facts, self.rates, self.num_first)


@contextmanager
def measured(
    config: Config, minutes: float | None, held: frozenset[str], make_pool: MakePool = local_pool
) -> Iterator[Trial]:
    """Measures what this machine does with a run of some minutes; None: one with the config's own numbers.

    Args:
      held: names of settings that the user has set, which stay.

    Raises BadInput if no run can begin with these settings.
    """
    begin = time.perf_counter()
    games = games_of(config.game)
    check_largest(games[-1], config.selfplay, len(games))
    first = sum(shard.num_learnt for _, shard in read_beginning(config, games).shards)  # raises errors before the trial
    starts = read_starts(config.selfplay.starts, games[-1])
    say("compiling and measuring first, for a minute or two")
    look = look_at(games[-1], starts)
    if minutes is not None:
        suited = suit(config, look, minutes, held, lambda config: _rate_steps(config, games[-1]))
        if suited != config:
            say(describe_suited(suited, look))
        config = suited
    check_together(config)
    config = settle_arithmetic(config, games[-1])
    seconds = _LONGEST_S if minutes is None else min(_LONGEST_S, _SHARE * 60 * minutes)
    with make_pool(config, say) as pool:
        with _rehearsed(config, look) as rehearsal:
            facts, rates, kept = _measure(rehearsal, pool, starts, seconds)
        used_s = _COMMAND_S + time.perf_counter() - begin
        yield Trial(config, games, look, facts, rates, first, kept, used_s, pool)


def _rate_steps(config: Config, game: Game) -> float:
    """Returns the positions that training learns from in a second; on a GPU more than any net needs."""
    return max(step_rates(config, game).values()) if device_type(config.device.device) == "cpu" else inf


def describe(chosen: Config, rates: Rates, seconds: float) -> str:
    """Returns what was measured and chosen, in one line."""
    play, training = chosen.selfplay, chosen.training
    return (
        f"{rates.evaluations_per_s:,.0f} evaluations in self-play and {rates.positions_per_s:,.0f} positions in "
        f"training a second; chosen: {training.iterations} iterations of {play.games_per_iteration} games, each "
        f"position drawn {training.samples_per_position:g} times; {seconds / 60:.1f} minutes in all"
    )


class Rehearsal(NamedTuple):
    """A tiny run that has ended, and what an iteration and an evaluation took in it, in seconds."""

    run: Run  # with the settings of the run to come
    iteration_s: float
    evaluation_s: float


@contextmanager
def _rehearsed(config: Config, look: Look) -> Iterator[Rehearsal]:
    """Trains a tiny run in a folder of its own, silently."""
    _remove_killed_trials()
    num_evaluated = games_evaluated(config, look)
    with tempfile.TemporaryDirectory(dir=cache_directory(), prefix="trial-") as name:
        folder = Path(name) / "run"
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            compiling_beside(lambda: compile_matches(config, games_of(config.game)[-1])),
        ):
            train_run(folder, _tiny(config, num_evaluated), False)
        line = read_metrics(RunFolder(folder).metrics_path)[-1]
        stages = sum(line[f"time/{stage}_s"] for stage in ("play", "train", "gate"))
        evaluation_s = line.get("time/evaluation_s", 0.0) * config.evaluation.games / num_evaluated
        yield Rehearsal(Run(folder, config, games_of(config.game)[-1]), stages, evaluation_s)


def games_evaluated(config: Config, look: Look) -> int:
    """Returns the games against the opponent in the trial, of those in an evaluation."""
    fewest = max(_EVALUATED, 2 * len(config.game.sizes))
    usual = 0 if look.calls_python else round(_EVALUATED_PLIES / look.plies)
    return min(config.evaluation.games, max(fewest, usual))


def _tiny(config: Config, num_evaluated: int) -> Config:
    """Returns the settings of a run of two iterations that runs all that a run does, with as little as possible.

    The evaluation has `num_evaluated` games, since an opponent may take any time for a move.
    """
    few = {"games": 2 * max(1, len(config.game.sizes)), "num_simulations": _FEW_SIMULATIONS}
    sections = {
        "selfplay": {"games_per_iteration": few["games"], "num_simulations": _FEW_SIMULATIONS, "full_search_share": 1.0}
        | {"games_per_shard": 2, "num_workers": 1},
        "replay": {"first_games": "none"},
        "training": {"iterations": 2, "first_net": "none", "samples_per_position": 1.0},
        "gate": few | {"rating_games": 0, "final_games": 0},
        "evaluation": {
            "every": min(1, config.evaluation.every),
            "games": num_evaluated,
            "num_simulations": _FEW_SIMULATIONS,
            "benchmark_positions": 1,
        },
        "cluster": {"trainers": 1},
    }
    return config.model_copy(
        update={name: getattr(config, name).model_copy(update=values) for name, values in sections.items()}
    )


def _remove_killed_trials() -> None:
    for folder in cache_directory().glob("trial-*"):
        with contextlib.suppress(OSError):  # another process may remove it at the same time
            if time.time() - folder.stat().st_mtime > _KILLED_S:
                shutil.rmtree(folder)


def _measure(rehearsal: Rehearsal, pool: Pool, starts: Sequence[str], seconds: float) -> tuple[Facts, Rates, Kept]:
    """Returns the facts of the game, the machine's rates, and what is kept, measured for about `seconds`."""
    run, num_workers = rehearsal.run, count_workers(rehearsal.run.config)
    counted = [_count(run.config_of(game), game, starts, seconds / 8 / len(run.games)) for game in run.games]
    positions = [each.shard.num_learnt / len(each.shard.lengths) for each in counted]
    evaluations = [each.evaluations for each in counted]
    begin = time.perf_counter()
    for each in counted:
        solve_endings(each.game, each.few, run.config.selfplay.ending_nodes, num_workers)
    ending_s = (time.perf_counter() - begin) / sum(len(each.few.lengths) for each in counted)
    gate_s = _time_gate(run, counted, seconds / 4)
    simulations = run.config.evaluation.num_simulations / run.config.gate.num_simulations
    rates = Rates(
        evaluations_per_s=_rate_play(run, pool, starts, counted, num_workers, seconds / 3),
        ending_s=ending_s,
        positions_per_s=_rate_training(run, [each.shard for each in counted], seconds / 3),
        gate_s=gate_s,
        gate_games=_games_of_gate(run),
        rows=_rows_of_pass(run),
        evaluation_s=rehearsal.evaluation_s + gate_s * simulations,  # half of the moves, and the benchmark
        iteration_s=rehearsal.iteration_s,
        num_workers=num_workers,
    )
    shards = [each.shard for each in counted]
    kept = Kept(
        position=sum(array.nbytes for shard in shards for array in shard)
        / sum(shard.num_positions for shard in shards),
        net=run.first_path.stat().st_size,
        state=(run.folder / STATE).stat().st_size,
        process=peak_memory(),
    )
    return Facts(float(np.mean(positions)), float(np.mean(evaluations))), rates, kept


def _rows_of_pass(run: Run) -> int:
    """Returns the rows that a pass of self-play takes as long as, see `Rates`."""
    device = run.config.device
    fills_up = device_type(device.device) == "cpu" and not LIBRARIES[device.runtime].takes_any_rows
    return ROWS if fills_up else 0


class _Counted(NamedTuple):
    """Games of one size that need no net."""

    game: Game
    shard: Shard
    few: Shard  # some of them
    evaluations: float  # of a net, in one of them


def _count(config: Config, game: Game, starts: Sequence[str], seconds: float) -> _Counted:
    """Returns games of a search with rollouts, which are about as long as a trained net's.

    Those of a net that knows nothing are not. But the share of simulations that need the net is taken from such games.
    """
    search = config.search.model_copy(update={"rollout_weight": 1.0, "rollout": "own"})
    judge = UniformEvaluator(game.num_actions)
    by_rollouts = SelfPlay.from_config(config.model_copy(update={"search": search}), game, judge)
    begin, parts = time.perf_counter(), list[Shard]()
    while len(parts) < _COUNTED // _FEW and (not parts or time.perf_counter() - begin < seconds):
        seeds = range(_FEW * len(parts), _FEW * (len(parts) + 1))
        parts.append(play_games(by_rollouts, seeds, starts=starts))
    counted = join_shards(parts)
    num_games = len(counted.lengths)
    alone = play_games(SelfPlay.from_config(config, game, judge), range(num_games), starts=starts)
    simulations, needed = int(counted.simulations[0]), int(alone.evaluations[0]) / int(alone.simulations[0])
    return _Counted(game, counted, join_shards(parts[:_SOLVED]), _SHARPER * simulations / num_games * needed)


def _rate_training(run: Run, counted: Sequence[Shard], seconds: float) -> float:
    """Returns the positions a second of training on these games, those of each size."""
    config, size = run.config.training, run.config.training.batch_size
    trainer = Trainer(run.config, run.game, run.canvas)
    replay = Replay(run.games, Window(1 << 40), targets_of(config, heads_of(config, run.game)))
    for place, shard in enumerate(counted):
        replay.add(str(place), shard, place)
    begin, steps = inf, 0
    with closing(replay.samples(size, generators_of(0, 0, range(1 << 20)))) as samples:  # type: ignore[type-var]
        for sample in samples:
            trainer.step(sample, 0.0)
            if begin == inf:
                trainer.largest_weight()  # waits for a GPU
                begin = time.perf_counter()
                continue
            steps += 1
            if time.perf_counter() - begin > seconds:
                break
    trainer.largest_weight()
    return size * steps / (time.perf_counter() - begin)


# --- self-play ---


class _Task(NamedTuple):
    """What a worker measures."""

    size: int  # the place of the game's size among all
    evaluations: float  # of a game
    seconds: float


def _rate_play(
    run: Run, pool: Pool, starts: Sequence[str], counted: Sequence[_Counted], num_workers: int, seconds: float
) -> float:
    """Returns the evaluations a second of all workers, of several sizes as in an iteration with games of all."""
    configs = [settings_of_workers(pool, run.config_of(game)) for game in run.games]
    identities = Identities(
        identity_of(run.game.rules), make_net(run.config.net, run.game).identity, *run.identities_of_search
    )
    plan = new_plan(run.config, configs, run.weights_at(0), identities, starts, run.known_of(0))
    spent_s = 0.0
    for size, each in enumerate(counted):
        tasks = [_Task(size, each.evaluations, seconds / len(counted))] * num_workers
        rates = dict(pool.run(time_play, tasks, shared=plan, title="trial"))
        spent_s += each.evaluations / sum(rates.values())
    return sum(each.evaluations for each in counted) / spent_s


def time_play(plan: PlayPlan, task: _Task, on_progress: Callable[[int], None]) -> float:
    """Returns the evaluations a second of a worker, which plays for the seconds of a task."""
    selfplay = open_selfplay(plan, plan.configs[task.size], task.size)
    judge = _Timed(selfplay.evaluator, UniformEvaluator(selfplay.game.num_actions), selfplay.num_slots, task)
    begin, num_games = time.perf_counter(), 0

    def note(num: int) -> None:
        nonlocal num_games
        num_games += num
        judge.expect()

    with contextlib.suppress(_TimeIsUp):
        play_games(replace(selfplay, evaluator=judge), range(_MANY_GAMES), note, plan.starts)
    if judge.num_evaluated:
        return judge.num_evaluated / judge.elapsed_s
    return num_games * task.evaluations / (time.perf_counter() - begin)  # the cache has the whole game


class _TimeIsUp(Exception):
    """The measurement is complete."""


class _Timed:
    """An evaluator that is free for the evaluations of a game in each slot. After that, games have every age.

    Then it measures, after one call, and ends the games when the time is over. Callers may be several threads.
    """

    def __init__(self, net: Evaluator, free: Evaluator, num_slots: int, task: _Task):
        self.rows, self.is_on_device = net.rows, net.is_on_device
        self.num_evaluated, self.elapsed_s = 0, 0.0
        self._net, self._free, self._seconds = net, free, task.seconds
        self._num_free = num_slots * task.evaluations
        self._begin, self._called = inf, time.perf_counter()
        self._lock = threading.Lock()

    def expect(self) -> None:
        """Ends the games if there was no call for long."""
        if time.perf_counter() - self._called > _SILENT_S:
            raise _TimeIsUp

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with self._lock:
            self._num_free -= len(planes)
        is_free = self._num_free > 0
        answer = (self._free if is_free else self._net).evaluate(planes)
        with self._lock:
            self._called = now = time.perf_counter()
            if is_free:
                return answer
            if self._begin == inf:
                self._begin = now
            else:
                self.num_evaluated += len(planes)
                self.elapsed_s = now - self._begin
            if self.elapsed_s > self._seconds:
                raise _TimeIsUp
        return answer


# --- the gate ---


def _games_of_gate(run: Run) -> int:
    """Returns the games of a gate that fill the lanes: a pass for each thread. A net moves in all games in turn."""
    return MATCH_ROWS * (run.config.device.threads or count_cores())


def _time_gate(run: Run, counted: Sequence[_Counted], seconds: float) -> float:
    """Returns the seconds of a gate of one size in full lanes, the mean over the sizes, by some moves of two nets."""
    return float(np.mean([_time_match(run, each, seconds / len(counted)) for each in counted]))


def _time_match(run: Run, counted: _Counted, seconds: float) -> float:
    """Returns the seconds of a gate at one size. It lasts until the longest of its games is over."""
    game, num_games = counted.game, _games_of_gate(run)
    specs = [spec_of_net(run, path, game) for path in (run.first_path, run.candidate_path)]
    openings = draw_openings(game, run.config.gate.opening_plies, run.config.seed)
    states = [state.clone() for state in islice(openings, num_games)]
    slots, moves_s = [*range(num_games)], list[float]()
    with closing(OpenAgents(2)) as agents:
        players = [agent.player for agent in agents.pair(*specs)]
        for player in players:
            player.start(num_games, states, 0)
        while sum(moves_s) < seconds and not any(state.is_terminal() for state in states):
            begin = time.perf_counter()
            for slot, action in enumerate(players[len(moves_s) % 2].choose(slots)):
                states[slot].apply_action(action)
                for player in players:
                    player.advance(slot, action)
            moves_s.append(time.perf_counter() - begin)
    lengths = counted.shard.lengths
    return float(np.mean(moves_s) * np.quantile(lengths, 1 - 1 / num_games))
