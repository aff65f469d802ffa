"""What a comparison knows of runs: their metrics so far, in groups whose settings are the same except for the seed."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short
from typing import Any, NamedTuple

import numpy as np

from azero.config.schema import Config
from azero.errors import BadInput, Damaged
from azero.games.names import without_folder
from azero.runs.folder import METRICS, check_is_run
from azero.runs.metrics import read_metrics
from azero.runs.settings import played_game, read_settings
from azero.system.console import printable
from azero.system.formats import is_number


class Measure(NamedTuple):
    """A metric of docs/metrics.md."""

    key: str
    title: str  # of its panel
    unit: str
    heading: tuple[str, str] | None  # of its column in the table, in two lines; None: it is not in the table
    digits: int  # after the decimal point, in the table
    scale: float = 1.0  # from the metric to the unit
    better: int = 0  # 1 if higher is better, -1 if lower, 0 if neither is

    def best(self, values: list[float]) -> float:
        """Returns the best of some values."""
        return max(values) if self.better > 0 else min(values)

    def show(self, value: float) -> str:
        """Returns a value in the measure's unit."""
        return f"{value * self.scale:,.{self.digits}f}"


SCORE = Measure("evaluation/score", "score against the opponent", "%", ("score", "%"), 0, 100, better=1)

MEASURES = (
    SCORE,
    Measure("gate/rating", "rating above the first net", "Elo", ("rating", "Elo"), 0),
    Measure("benchmark/search_mistakes", "mistakes with search", "%", ("mistakes", "search, %"), 1, 100, better=-1),
    Measure("benchmark/net_mistakes", "mistakes of the net alone", "%", ("mistakes", "net, %"), 1, 100, better=-1),
    Measure("fresh/policy_agreement", "net agrees with the search", "%", ("agree", "%"), 0, 100, better=1),
    Measure("train/policy_loss", "policy loss", "nats", ("policy", "loss"), 3),
    Measure("train/value_loss", "value loss", "nats", ("value", "loss"), 3),
    Measure("selfplay/mean_plies", "length of games", "plies", None, 1),
    Measure("selfplay/positions_per_s", "self-play", "positions per second", None, 0),
)


AXES = ("iteration", "positions", "time_s")
"""What curves can be over. `time_s` is the sum of the run's self-play, training and gates so far, in seconds."""

_TIMES = ("time/play_s", "time/train_s", "time/gate_s")
"""The times that count. An evaluation decides nothing, so its time does not."""

_IRRELEVANT = (
    *("seed", "selfplay.num_workers", "selfplay.parallel_games", "training.save_every_steps"),
    *("cluster.cpus_per_worker", "cluster.deadline_s", "cluster.trainers"),
)
_ARITHMETIC = ("device.", "training.precision", "training.convolution")
"""Settings in which runs of a group may differ: the seed, and where and how the run is computed."""

_LONGEST_NAME = 60  # characters, of a group
_MOST_RUNS_IN_NAME = 3


@dataclass(frozen=True)
class ComparedRun:
    """A run's settings, and the metrics of its finished iterations. The run may still be in training."""

    folder: Path
    game: str
    seed: int
    opponent: str  # of its evaluations
    settings: dict[str, Any]  # by `section.key`, without those in which the runs of a group may differ
    axes: dict[str, list[float]]  # by axis, a number for each iteration
    lines: Sequence[dict]  # of metrics.jsonl

    def values(self, key: str) -> list[float | None]:
        """Returns a metric at each iteration. It is None where the metric is missing or not a number."""
        found = (line.get(key) for line in self.lines)
        return [float(value) if is_number(value) else None for value in found]  # type: ignore[arg-type]

    def points(self, key: str, axis: str) -> tuple[list[float], list[float]]:
        """Returns the places on an axis where a metric has a value, and these values."""
        pairs = [
            (x, value) for x, value in zip(self.axes[axis], self.values(key), strict=True) if _is_measured(key, value)
        ]
        return [x for x, _ in pairs], [value for _, value in pairs if value is not None]

    def to_json(self) -> dict[str, Any]:
        """Returns an object with the series of all metrics; null where one has no value."""
        keys = dict.fromkeys(key for line in self.lines for key in line if key not in AXES)
        series = {**self.axes, **{key: self.values(key) for key in keys}}
        return {"run": str(self.folder), "seed": self.seed, "series": series}


def read_run(folder: Path) -> ComparedRun:
    """Returns the finished iterations of a run. Reads config.toml and metrics.jsonl, and changes nothing.

    Raises:
      BadInput: the folder is no run, or it has not finished an iteration.
      Damaged: a line of metrics.jsonl is broken.
    """
    check_is_run(folder)
    config, path = read_settings(folder), folder / METRICS
    lines = read_metrics(path)
    if not lines:
        raise BadInput(f"run {str(folder)!r} has no metrics yet; wait until its first iteration has finished")
    return ComparedRun(
        folder=folder,
        game=played_game(config.game),
        seed=config.seed,
        opponent=config.evaluation.opponent,
        settings=_settings_of(config),
        axes=_axes_of(path, lines),
        lines=lines,
    )


def _settings_of(config: Config) -> dict[str, Any]:
    """Returns the settings that distinguish groups. The folder of a user's file does not count."""
    sections = config.model_dump(mode="json", exclude={"seed"})
    flat = {f"{name}.{key}": value for name, section in sections.items() for key, value in section.items()}
    kept = {key: value for key, value in flat.items() if key not in _IRRELEVANT and not key.startswith(_ARITHMETIC)}
    named = {"game.name": played_game(config.game), "net.name": without_folder(config.net.name)}
    return kept | named


def _axes_of(path: Path, lines: Sequence[dict]) -> dict[str, list[float]]:
    """Returns the places of a run's iterations on each axis; raises Damaged."""
    axes: dict[str, list[float]] = {axis: [] for axis in AXES}
    before = dict.fromkeys(AXES, 0.0)
    for number, line in enumerate(lines, start=1):
        for key in ("iteration", "positions", *(stage for stage in _TIMES if stage in line)):
            value, least = line.get(key), before.get(key, 0.0)
            if not is_number(value) or value < least or (key == "iteration" and value == least):  # type: ignore[operator]
                wanted = f"a number above {least:g}" if key == "iteration" else f"a number of at least {least:g}"
                raise Damaged(f"line {number} of {str(path)!r} has {key} = {short(value)}; it should be {wanted}")
        seconds = before["time_s"] + sum(line.get(stage, 0.0) for stage in _TIMES)
        before = {"iteration": line["iteration"], "positions": line["positions"], "time_s": seconds}
        for axis, value in before.items():
            axes[axis].append(value)
    return axes


def _is_measured(key: str, value: float | None) -> bool:
    """Returns whether a value was measured. A speed of 0 means that nothing was left to play, or to train."""
    return value is not None and not (key.endswith("_per_s") and value == 0)


class Curve(NamedTuple):
    """A metric of a group where all its runs have values: mean, lowest and highest run at each place of an axis."""

    xs: list[float]
    means: list[float]
    lows: list[float]
    highs: list[float]


class Spread(NamedTuple):
    """Mean, lowest and highest run."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        return cls(float(np.mean(values)), min(values), max(values))


@dataclass(frozen=True)
class Group:
    """Runs with the same settings, in the order in which they were given."""

    name: str
    settings: dict[str, Any]  # those that differ from group to group
    runs: tuple[ComparedRun, ...]

    @property
    def short_name(self) -> str:
        """The name as a plot or a terminal can show it."""
        return shortened(self.name)

    @property
    def seeds(self) -> list[int]:
        return [run.seed for run in self.runs]

    def curve(self, key: str, axis: str) -> Curve:
        """Returns a metric over an axis. Between its points, a run's line is straight."""
        points = [points for points in (run.points(key, axis) for run in self.runs) if points[0]]
        if not points:
            return Curve([], [], [], [])
        begin, end = max(xs[0] for xs, _ in points), min(xs[-1] for xs, _ in points)
        places = sorted({x for xs, _ in points for x in xs if begin <= x <= end})
        if not places:  # one run ended before another had its first value
            return Curve([], [], [], [])
        rows = np.array([np.interp(places, *each) for each in points])
        return Curve(places, rows.mean(0).tolist(), rows.min(0).tolist(), rows.max(0).tolist())

    def last(self, measure: Measure) -> Spread | None:
        """Returns the last value of each run; None if no run has one."""
        found = [values[-1] for values in self._values(measure)]
        return Spread.of(found) if found else None

    def best(self, measure: Measure) -> Spread | None:
        """Returns the best value of each run; None if no run has one, or no value is better than another."""
        found = [measure.best(values) for values in self._values(measure)] if measure.better else []
        return Spread.of(found) if found else None

    def when(self, measure: Measure, value: float, axis: str) -> list[float]:
        """Returns where runs first had this value or a better one, for those that had."""
        found = []
        for xs, values in (run.points(measure.key, axis) for run in self.runs):
            found += [x for x, each in zip(xs, values, strict=True) if (each - value) * measure.better >= 0][:1]
        return found

    def spread(self, axis: str) -> Spread:
        """Returns how far the runs have come on an axis."""
        return Spread.of([run.axes[axis][-1] for run in self.runs])

    def _values(self, measure: Measure) -> list[list[float]]:
        found = (run.points(measure.key, "iteration")[1] for run in self.runs)
        return [values for values in found if values]


def shortened(text: str) -> str:
    """Returns a text as a plot or a terminal can show it."""
    shown = printable(text)
    return shown if len(shown) <= _LONGEST_NAME else f"{shown[: _LONGEST_NAME - 3]}..."


def group_runs(runs: Sequence[ComparedRun]) -> list[Group]:
    """Returns the groups of runs with the same settings, in the order of their first runs."""
    members: dict[str, list[ComparedRun]] = {}
    for run in runs:
        members.setdefault(json.dumps(run.settings, sort_keys=True), []).append(run)
    first = [some[0].settings for some in members.values()]
    differing = [key for key in first[0] if any(each[key] != first[0][key] for each in first)]
    settings = [{key: each[key] for key in differing} for each in first]
    by_settings, by_folders = _names_by_settings(settings), _names_by_folders(list(members.values()))
    is_clear = [len(settings) > 1 and len(name) <= _LONGEST_NAME for name in by_settings]
    names = [by_settings[k] if clear else by_folders[k] for k, clear in enumerate(is_clear)]
    return [Group(name, each, tuple(some)) for name, each, some in zip(names, settings, members.values(), strict=True)]


def _names_by_settings(settings: Sequence[dict[str, Any]]) -> list[str]:
    """Returns what is special about each group.

    A value that more than half of the groups have is not special. A group without anything special is called `base`.
    """
    names = []
    for each in settings:
        special = [
            f"{key}={value if isinstance(value, str) else json.dumps(value)}"
            for key, value in each.items()
            if 2 * Counter(json.dumps(other[key]) for other in settings)[json.dumps(value)] <= len(settings)
        ]
        names.append(", ".join(special) or "base")
    return names


def _names_by_folders(members: Sequence[Sequence[ComparedRun]]) -> list[str]:
    """Returns the names of each group's folders; their paths, if two folders have the same name."""
    folders = [run.folder for some in members for run in some]
    is_unique = len({folder.resolve().name for folder in folders}) == len(folders)
    names = []
    for some in members:
        own = [run.folder.resolve().name if is_unique else str(run.folder) for run in some]
        more = len(own) - _MOST_RUNS_IN_NAME
        names.append(", ".join(own) if more <= 0 else f"{own[0]} and {len(own) - 1} more")
    return names
