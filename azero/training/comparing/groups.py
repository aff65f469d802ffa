"""Groups of runs whose settings are the same except for the seed."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from azero.system.console import printable
from azero.training.comparing.finished import FinishedRun
from azero.training.comparing.measures import Measure

_LONGEST_NAME = 60  # characters
_MOST_RUNS_IN_NAME = 3


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
    runs: tuple[FinishedRun, ...]

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


def group_runs(runs: Sequence[FinishedRun]) -> list[Group]:
    """Returns the groups of runs with the same settings, in the order of their first runs."""
    members: dict[str, list[FinishedRun]] = {}
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


def _names_by_folders(members: Sequence[Sequence[FinishedRun]]) -> list[str]:
    """Returns the names of each group's folders; their paths, if two folders have the same name."""
    folders = [run.folder for some in members for run in some]
    is_unique = len({folder.resolve().name for folder in folders}) == len(folders)
    names = []
    for some in members:
        own = [run.folder.resolve().name if is_unique else str(run.folder) for run in some]
        more = len(own) - _MOST_RUNS_IN_NAME
        names.append(", ".join(own) if more <= 0 else f"{own[0]} and {len(own) - 1} more")
    return names
