"""`azero plan`: how long a run takes on this machine, what it will have played and learned, and how strong it gets."""

from collections.abc import Iterator, Sequence
from math import ceil, inf, log, log10
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from azero.arena.matches.statistics import elo_from_score
from azero.config.reading import load_config
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.games.user.trust import trust_config
from azero.mcts import selection_from_config
from azero.mcts.reference.trial import try_strategies
from azero.mcts.roots.strategies import root_from_config
from azero.nets.make import make_net
from azero.runs.folder import METRICS, check_is_run
from azero.runs.metrics import read_rows
from azero.runs.settings import find_settings, game_of_run
from azero.selfplay.data.replay import Window
from azero.training.budget import TooShort
from azero.training.forecast import BAND, Point, Traits, known_curves, traits_of
from azero.training.health import Line, number_of
from azero.training.suited import Look, look_at
from azero.training.train import check_program
from azero.training.trial import Trial, measured

ANCHOR, SIMULATIONS = "uct@1000", 200
"""Elo is that of a net with these simulations, above this agent."""

_SHARES = 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0
"""A plan has stages after these shares of a run's iterations."""

_USUAL_HOURS = 1.0
"""The net suits a run of this length, where an Elo is asked for without hours."""

_MOST_HOURS, _A_DECADE = 1000.0, 8
"""The longest run that is tried, and the number of lengths in each factor of ten."""

_MOST_STAGES = 100  # at which a run is asked for an Elo

_ELO_OF_LOGIT = 400 / log(10)

_RECENT = 3
"""Iterations whose time is that of the next ones."""


class Band(NamedTuple):
    """A forecast, and the ends of its 80 % interval."""

    low: float
    middle: float
    high: float


class Stage(NamedTuple):
    """A run after some of its iterations."""

    hours: float
    iterations: int
    games: int
    positions: int
    steps: int
    elo: Band | None  # None: no run on record is like this one


class Plan(NamedTuple):
    """The answer of `azero plan`. Bytes are infinite where they are unknown."""

    game: str
    stages: list[Stage]
    elo_to_reach: float | None = None
    hours_to_elo: Band | None = None
    memory_bytes: float = inf
    disk_bytes: float = inf
    measured: dict[str, float] | None = None
    settings: dict[str, float] | None = None

    def to_json(self) -> dict:
        """Returns the object that `azero plan --json` prints."""
        stages = [{**each._asdict(), "elo": each.elo and each.elo._asdict()} for each in self.stages]
        hours = self.hours_to_elo and {name: _finite(each) for name, each in self.hours_to_elo._asdict().items()}
        sizes = {"memory_bytes": _finite(self.memory_bytes), "disk_bytes": _finite(self.disk_bytes)}
        return {**self._asdict(), "stages": stages, "hours_to_elo": hours, **sizes}


def _finite(value: float) -> float | None:
    return value if value < inf else None


def plan_config(
    config: str | Path,
    hours: float | None = None,
    elo: float | None = None,
    *,
    settings: Sequence[str] = (),
    allow_commands: bool = False,
) -> Plan:
    """Measures this machine, and says what a run will do.

    Args:
      config: the name of an included config, or a path.
      hours: the time of the run; None: the run has the config's own numbers.
      elo: the strength to reach. Without hours, the plan is that of the shortest run that reaches it.
      settings: changes of settings, "section.key=value", which stay.
      allow_commands: whether a program that the config names as the opponent may run.

    Raises BadInput if the config cannot be used, the hours are too few, or no run on record was so strong.
    """
    if hours is not None and not 0 < hours < inf:
        raise BadInput(f"--hours {hours:g} should be more than 0, e.g. --hours 0.5")
    _check_elo(elo)
    held = frozenset(each.partition("=")[0].strip() for each in settings)
    is_fitted = hours is not None or elo is not None
    if is_fitted and held & {"training", "training.iterations"}:
        raise BadInput("--hours and --elo set training.iterations; leave one of them out")
    loaded = load_config(config, settings)
    check_program(loaded, settings, allow_commands)
    trust_config(loaded)
    try_strategies(selection_from_config(loaded.search), root_from_config(loaded))
    minutes = 60 * (_USUAL_HOURS if hours is None else hours) if is_fitted else None
    with measured(loaded, minutes, held) as trial:
        traits = _traits_of(trial.config, trial.games[-1], trial.look)
        needed = None if elo is None else _hours_to(trial, traits, elo, held)
        if needed and hours is None and needed.middle < inf:
            hours = needed.middle
        try:
            chosen = trial.config if hours is None else trial.fit(3600 * hours, held)
        except TooShort as error:
            least = ceil((error.least_s + trial.used_s) / 36) / 100
            raise BadInput(f"--hours {hours:g} is too short here; the least is about --hours {least:g}") from None
        return _plan_of(trial, traits, chosen, is_fitted)._replace(elo_to_reach=elo, hours_to_elo=needed)


def _check_elo(elo: float | None) -> None:
    strongest = known_curves().strongest
    if elo is not None and not elo <= strongest:
        raise BadInput(f"--elo {elo:g} is beyond what was ever seen: the strongest net on record has {strongest:+.0f}")


def _traits_of(config: Config, game: Game, look: Look) -> Traits | None:
    """Returns the traits of a run; None if it begins with a trained net or other games, as no run on record does."""
    if config.training.first_net != "none" or config.replay.first_games != "none":
        return None
    return traits_of(config, game, look, count_weights(config, game))


def count_weights(config: Config, game: Game) -> int:
    """Returns the number of a net's parameters."""
    return sum(each.numel() for each in make_net(config.net, game).parameters())


def _plan_of(trial: Trial, traits: Traits | None, chosen: Config, is_fitted: bool) -> Plan:
    """Returns the plan of a run with these settings.

    Args:
      is_fitted: whether the command that trains it measures, as this one has.
    """
    play, training, kept = chosen.selfplay, chosen.training, trial.kept
    last = training.iterations
    iterations = sorted({max(1, round(share * last)) for share in _SHARES})
    positions = [_positions_after(trial, chosen, num) for num in iterations]
    samples = [each * training.samples_per_position for each in positions]
    elos = _forecast(traits, [Point(each, num / last) for each, num in zip(samples, iterations, strict=True)])
    stages = [
        Stage(
            hours=(is_fitted * trial.used_s + trial.seconds_of(_first_of(chosen, num))) / 3600,
            iterations=num,
            games=(num - (trial.num_first > 0)) * play.games_per_iteration,
            positions=round(seen),
            steps=ceil(drawn / training.batch_size),
            elo=each,
        )
        for num, seen, drawn, each in zip(iterations, positions, samples, elos, strict=True)
    ]
    window = Window(chosen.replay.window, chosen.replay.window_growth).size(round(positions[-1]))
    in_window = min(window, positions[-1]) / play.full_search_share * kept.position
    num_processes = 1 + trial.rates.num_workers * (trial.rates.num_workers > 1)
    return Plan(
        str(trial.games[-1]),
        stages,
        memory_bytes=num_processes * kept.process + in_window,
        disk_bytes=in_window + 2 * kept.state + (last + 3) * kept.net,
        measured={
            "seconds": trial.used_s,
            "evaluations_per_s": trial.rates.evaluations_per_s,
            "positions_per_s": trial.rates.positions_per_s,
            "gate_s": trial.rates.gate_s,
            "iteration_s": trial.rates.iteration_s,
        },
        settings={"blocks": chosen.net.blocks, "channels": chosen.net.channels, "iterations": last}
        | {"games_per_iteration": play.games_per_iteration, "samples_per_position": training.samples_per_position},
    )


def _positions_after(trial: Trial, config: Config, iterations: int) -> float:
    """Returns the positions of a run to learn from, after some iterations."""
    own = iterations - (trial.num_first > 0)
    return trial.num_first + own * config.selfplay.games_per_iteration * trial.facts.positions


def _first_of(config: Config, iterations: int) -> Config:
    """Returns the settings of the first iterations of a run, without its final if these are not all."""
    if iterations == config.training.iterations:
        return config
    training = config.training.model_copy(update={"iterations": iterations})
    return config.model_copy(update={"training": training, "gate": config.gate.model_copy(update={"final_games": 0})})


def _forecast(traits: Traits | None, points: Sequence[Point], known: Sequence[Point] = ()) -> list[Band | None]:
    if traits is None:
        return [None] * len(points)
    curves = known_curves()
    return [
        Band(mean - BAND * deviation, mean, mean + BAND * deviation)
        if curves.reaches(traits, point, deviation)
        else None
        for point, (mean, deviation) in zip(points, curves.forecast(traits, points, known).tolist(), strict=True)
    ]


def _hours_to(trial: Trial, traits: Traits | None, elo: float, held: frozenset[str]) -> Band:
    """Returns the hours of the shortest run whose net reaches an Elo; infinite if no run of a known strength does."""
    hours, bands = list[float](), list[Band | None]()
    for each in _lengths(trial, held):
        chosen = trial.fit(3600 * each, held)
        samples = _positions_after(trial, chosen, chosen.training.iterations) * chosen.training.samples_per_position
        hours.append(each)
        bands += _forecast(traits, [Point(samples, 1.0)])
        if bands[-1] is None or bands[-1].low >= elo:
            break
    return _first_reaching(elo, hours, bands)


def _first_reaching(elo: float, hours: Sequence[float], bands: Sequence[Band | None]) -> Band:
    """Returns the first hours at which the forecast, and the ends of its interval, have reached an Elo; or infinity."""

    def first(end: str) -> float:
        found = (each for each, band in zip(hours, bands, strict=True) if band and getattr(band, end) >= elo)
        return next(found, inf)

    return Band(first("high"), first("middle"), first("low"))


def _lengths(trial: Trial, held: frozenset[str]) -> Iterator[float]:
    """Yields the hours of runs, from the shortest that makes sense."""
    try:
        trial.fit(0.0, held)
    except TooShort as error:
        least = (error.least_s + trial.used_s) / 3600 * 1.001
        yield from least * 10 ** (np.arange(0, log10(_MOST_HOURS / least), 1 / _A_DECADE))


def plan_run(folder: Path, elo: float | None = None) -> Plan:
    """Says what a run under way will do, by its own iterations; raises BadInput if none has ended."""
    _check_elo(elo)
    check_is_run(folder)
    config = find_settings(folder)
    lines = [line for line in read_rows(folder / METRICS) if (number_of(line, "iteration") or 0.0) >= 1]
    if not lines:
        raise BadInput(f"run {str(folder)!r} has ended no iteration yet, so there is nothing to plan by")
    game = game_of_run(folder, config.game)
    done = int(lines[-1]["iteration"])
    last = max(done, config.training.iterations)
    taken = [max(0.0, number_of(line, "time/iteration_s") or 0.0) for line in lines]
    recent_s = fmean(taken[-_RECENT:])
    so_far = [sum(max(0.0, number_of(line, "selfplay/games") or 0.0) for line in lines)]
    so_far += [max(0.0, number_of(lines[-1], key) or 0.0) for key in ("positions", "steps")]
    shown = sorted({done, *(done + round(share * (last - done)) for share in _SHARES)})
    looked_at = sorted({*shown, *range(done, last + 1, 1 + (last - done) // _MOST_STAGES)})
    size = config.training.batch_size
    points = [Point(so_far[-1] * size * num / done, num / last) for num in looked_at]
    known = [point for line in lines if (point := _rated(config, line, last))]
    bands = _forecast(_traits_of(config, game, look_at(game)), points, known)
    hours = [(sum(taken) + (num - done) * recent_s) / 3600 for num in looked_at]
    counts = ([round(each * num / done) for num in looked_at] for each in so_far)
    stages = [Stage(*each) for each in zip(hours, looked_at, *counts, bands, strict=True)]
    stages = [each for each in stages if each.iterations in shown]
    return Plan(str(game), stages, elo, None if elo is None else _first_reaching(elo, hours, bands))


def _rated(config: Config, line: Line, last: int) -> Point | None:
    """Returns a net that has met the anchor as nets on record did, as a point of its run's curve."""
    own, score, steps, games = (
        config.evaluation,
        *(number_of(line, key) for key in ("evaluation/score", "steps", "evaluation/games")),
    )
    if (own.opponent, own.num_simulations, len(config.game.sizes)) != (ANCHOR, SIMULATIONS, 0):
        return None
    if score is None or steps is None or not games or not (0 <= score <= 1 and games > 0 and steps >= 0):
        return None
    share = (score * games + 0.5) / (games + 1)  # a draw more, so that a score of 1 has an Elo, too
    error = _ELO_OF_LOGIT / (games * share * (1 - share)) ** 0.5
    return Point(steps * config.training.batch_size, line["iteration"] / last, elo_from_score(share), error)


def describe(plan: Plan) -> list[str]:
    """Returns the lines that `azero plan` prints."""
    lines = [f"{'time':>7} {'iterations':>11} {'games':>9} {'positions':>11} {'steps':>9}   Elo, and its 80 % interval"]
    for each in plan.stages:
        elo = f"{each.elo.middle:+z.0f}  {each.elo.low:+z.0f} to {each.elo.high:+z.0f}" if each.elo else "not known"
        numbers = f"{each.iterations:>11} {each.games:>9,} {each.positions:>11,} {each.steps:>9,}"
        lines.append(f"{_clock(each.hours):>7} {numbers}   {elo}")
    lines.append(f"Elo is that of the net with {SIMULATIONS} simulations, above {ANCHOR}")
    if plan.disk_bytes < inf:
        memory = "" if plan.memory_bytes == inf else f", memory at most {plan.memory_bytes / 1e9:.1f} GB"
        lines.append(f"disk {plan.disk_bytes / 1e6:,.0f} MB{memory}")
    if plan.settings is not None:
        net = f"net.blocks={plan.settings['blocks']:g}, net.channels={plan.settings['channels']:g}"
        lines.append(f"{plan.settings['games_per_iteration']:g} games an iteration, {net}")
    if plan.elo_to_reach is not None and plan.hours_to_elo is not None:
        low, middle, high = (_clock(each) if each < inf else "unknown" for each in plan.hours_to_elo)
        lines.append(f"{plan.elo_to_reach:+z.0f} Elo: after {middle}; with a probability of 80 % from {low} to {high}")
    return lines


def _clock(hours: float) -> str:
    """Returns hours and minutes, e.g. 1:30."""
    return "{}:{:02}".format(*divmod(round(60 * hours), 60))
