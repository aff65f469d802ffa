"""A comparison of runs: as a plot, as a table and as JSON."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from azero.errors import BadInput
from azero.plots import Line, Panel, draw_grid
from azero.system.console import printable
from azero.training.compared_runs import (
    AXES,
    MEASURES,
    SCORE,
    ComparedRun,
    Group,
    Measure,
    Spread,
    group_runs,
    read_run,
    shortened,
)

_COLUMNS = 3  # of panels
_MOST_BANDS = 7  # with more groups, bands would hide each other
_HOURS_FROM = 3 * 3600  # seconds from which a plot's time is in hours
_MOST_SEEDS = 4  # in a row of the table; more are counted, not listed


@dataclass(frozen=True)
class Comparison:
    """Runs of one game in groups: runs whose settings differ only in the seed are one group.

    Settings of the device, of worker processes and of saving may differ, too. They do not change what a run learns.
    """

    game: str
    opponents: tuple[str, ...]
    groups: tuple[Group, ...]

    @property
    def measures(self) -> list[Measure]:
        """The measures that at least one run has."""
        return [each for each in MEASURES if any(group.last(each) for group in self.groups)]

    def draw(self, path: str | Path, over: str = "time_s") -> None:
        """Draws a panel for each measure into a PNG file.

        A line is the mean over a group's runs, and its band goes from the lowest to the highest of them. Thin lines
        are single runs. If there are more than seven groups, there are only the means.

        Args:
          over: the axis: "iteration", "positions" or "time_s".

        Raises OSError if the file cannot be written, and BadInput if there is nothing to draw.
        """
        if over not in AXES:
            raise BadInput(f"over = {over!r} should be one of {', '.join(AXES)}")
        if not self.measures:
            raise BadInput(f"there is nothing to draw: no run has one of {', '.join(each.key for each in MEASURES)}")
        unit, label = self._unit_of(over)
        panels = [self._panel(measure, over, unit, label) for measure in self.measures]
        note = self.game
        if any(len(group.runs) > 1 for group in self.groups):
            bands = ", band: lowest to highest seed, thin lines: single seeds" if self._has_bands else " over seeds"
            note += f"; line: mean{bands}"
        draw_grid(panels, Path(path), _COLUMNS, note)

    @property
    def _has_bands(self) -> bool:
        return len(self.groups) <= _MOST_BANDS

    def _unit_of(self, axis: str) -> tuple[float, str]:
        """Returns the unit in which an axis is drawn, and its name."""
        if axis != "time_s":
            return (1.0, "iterations") if axis == "iteration" else (1e3, "thousand positions")
        longest = max(group.spread(axis).high for group in self.groups)
        return (3600.0, "hours") if longest > _HOURS_FROM else (60.0, "minutes")

    def _panel(self, measure: Measure, axis: str, unit: float, x_label: str) -> Panel:
        title = measure.title
        if measure is SCORE and len(self.opponents) == 1:
            title = f"score against {shortened(self.opponents[0])}"
        lines = [_line(group, measure, axis, unit, self._has_bands) for group in self.groups]
        return Panel(title, x_label, measure.unit, lines, is_x_log=False, is_y_log=False)

    def to_json(self, score: float | None = None) -> dict[str, Any]:
        """Returns an object with the series of all runs, and the curves, last and best values of all groups.

        Args:
          score: `reached` says when the groups reached this score against the opponent, a share from 0 to 1.
        """
        groups = [self._group_to_json(group, score) for group in self.groups]
        return {"game": self.game, "opponents": list(self.opponents), "groups": groups}

    def _group_to_json(self, group: Group, score: float | None) -> dict[str, Any]:
        def spreads(find: Any) -> dict[str, Any]:
            found = {each.key: find(each) for each in self.measures}
            return {key: spread._asdict() for key, spread in found.items() if spread}

        curves = {each.key: {axis: group.curve(each.key, axis)._asdict() for axis in AXES} for each in self.measures}
        reached = {} if score is None else {"reached": self._reached(group, score)}
        return {
            "name": group.name,
            "settings": group.settings,
            "seeds": group.seeds,
            "runs": [run.to_json() for run in group.runs],
            "last": {**{axis: group.spread(axis)._asdict() for axis in AXES}, **spreads(group.last)},
            "best": spreads(group.best),
            **reached,
            "curves": curves,
        }

    def _reached(self, group: Group, score: float) -> dict[str, Any]:
        """Returns when the runs of a group first reached a score, of those that did."""
        places = {axis: group.when(SCORE, score, axis) for axis in AXES}
        spreads = {axis: Spread.of(found)._asdict() if found else None for axis, found in places.items()}
        return {"score": score, "runs": len(places["iteration"]), **spreads}


def _line(group: Group, measure: Measure, axis: str, unit: float, has_band: bool) -> Line:
    """Returns the line of a group in a measure's panel."""

    def scaled(xs: Sequence[float], ys: Sequence[float]) -> tuple[list[float], list[float]]:
        return [x / unit for x in xs], [y * measure.scale for y in ys]

    curve = group.curve(measure.key, axis)
    if len(group.runs) == 1 or not has_band:
        return Line(group.short_name, *scaled(curve.xs, curve.means))
    band = [(low * measure.scale, high * measure.scale) for low, high in zip(curve.lows, curve.highs, strict=True)]
    parts = [scaled(*run.points(measure.key, axis)) for run in group.runs]
    return Line(group.short_name, *scaled(curve.xs, curve.means), band, parts=parts)


def compare_runs(runs: Sequence[str | Path]) -> Comparison:
    """Returns a comparison of runs, which may still be in training. It only reads their config.toml and metrics.jsonl.

    Args:
      runs: their folders.

    Raises BadInput if a folder is no run, or is given twice; if a run has finished no iteration, or its files are
    damaged; or if the runs play different games.
    """
    folders = [Path(run) for run in runs]
    if not folders:
        raise BadInput("there is no run to compare; name at least one run's folder")
    seen: dict[str, Path] = {}
    for folder in folders:
        if (real := os.path.realpath(folder)) in seen:
            as_well = "" if seen[real] == folder else f", as {str(seen[real])!r} and as {str(folder)!r}"
            raise BadInput(f"run {str(folder)!r} is given twice{as_well}; name each run once")
        seen[real] = folder
    found = [read_run(folder) for folder in folders]
    _check_game(found)
    scored = (run.opponent for run in found if run.points(SCORE.key, "iteration")[0])
    return Comparison(found[0].game, tuple(dict.fromkeys(scored)), tuple(group_runs(found)))


def _check_game(runs: Sequence[ComparedRun]) -> None:
    """Raises BadInput if runs play different games."""
    first = runs[0]
    for run in runs:
        if run.game != first.game:
            raise BadInput(
                f"run {str(first.folder)!r} plays {first.game}, and {str(run.folder)!r} plays {run.game}; scores, Elo "
                "and losses of different games do not compare, so name runs of one game"
            )


class _Column(NamedTuple):
    heading: tuple[str, str]  # in two lines
    show: Callable[[Group], str]


def describe(comparison: Comparison, score: float | None = None) -> str:
    """Returns the table as text, with a line that explains it.

    Args:
      score: further columns say when the groups first reached this score, a share from 0 to 1.
    """
    columns = [
        _Column(("", ""), lambda group: group.short_name),
        _Column(("", "seeds"), _seeds),
        _Column(("iter-", "ations"), lambda group: f"{group.spread('iteration').mean:,.0f}"),
        _Column(("", "positions"), lambda group: f"{group.spread('positions').mean:,.0f}"),
        _Column(("", "minutes"), lambda group: f"{group.spread('time_s').mean / 60:,.1f}"),
    ]
    columns += [_Column(each.heading, _shower(each)) for each in comparison.measures if each.heading]
    if score is not None:
        for axis, unit, name in (("time_s", 60.0, "minutes"), ("positions", 1.0, "positions")):
            columns.append(_Column((f"to {score:.0%}:", name), _when(score, axis, unit)))
    lines = [[column.heading[k] for column in columns] for k in (0, 1)]
    lines += [[column.show(group) for column in columns] for group in comparison.groups]
    first, *others = (max(map(len, cells)) for cells in zip(*lines, strict=True))
    texts = []
    for name, *cells in lines:
        numbers = (f"{cell:>{width}}" for cell, width in zip(cells, others, strict=True))
        texts.append("  ".join([f"{name:<{first}}", *numbers]).rstrip())
    return "\n".join([*texts, "", _explanation(comparison)])


def _explanation(comparison: Comparison) -> str:
    means = "means over seeds; " if any(len(group.runs) > 1 for group in comparison.groups) else ""
    opponents = ", ".join(map(printable, comparison.opponents))
    against = f"; score: against {opponents}" if opponents else ""
    return f"{printable(comparison.game)}: {means}last value, and the best in brackets{against}"


def _seeds(group: Group) -> str:
    return " ".join(map(str, group.seeds)) if len(group.runs) <= _MOST_SEEDS else f"{len(group.runs)} runs"


def _shower(measure: Measure) -> Callable[[Group], str]:
    """Returns a function that shows a group's last value, and its best one in brackets."""

    def show(group: Group) -> str:
        last, best = group.last(measure), group.best(measure)
        if last is None:
            return "-"
        return measure.show(last.mean) + (f" ({measure.show(best.mean)})" if best else "")

    return show


def _when(score: float, axis: str, unit: float) -> Callable[[Group], str]:
    """Returns a function that shows when a group's runs first reached a score, or how many did if not all."""

    def show(group: Group) -> str:
        found = group.when(SCORE, score, axis)
        if len(found) < len(group.runs):
            return f"{len(found)} of {len(group.runs)}" if len(group.runs) > 1 else "-"
        return f"{sum(found) / len(found) / unit:,.{1 if unit > 1 else 0}f}"

    return show
