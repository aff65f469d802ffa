"""Plots: lines in panels next to each other, with linear or logarithmic axes, and values with intervals by name."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from azero.compiler.cache import cache_root
from azero.system.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # Okabe & Ito (2008)
_MARKERS = "osD^vPX"


class Line(NamedTuple):
    """The points of a line. A logarithmic axis leaves out points that are not positive."""

    label: str
    xs: Sequence[float]
    ys: Sequence[float]
    intervals: Sequence[tuple[float, float]] | None = None  # one per y
    is_reference: bool = False  # drawn dashed and grey


class Panel(NamedTuple):
    """One panel of a plot."""

    title: str
    x_label: str
    y_label: str
    lines: Sequence[Line]
    is_x_log: bool = True
    is_y_log: bool = True
    x_ticks: Sequence[float] | None = None
    y_range: tuple[float, float] | None = None


def draw(panels: Sequence[Panel], path: Path) -> None:
    """Writes the panels to a PNG file."""
    figure = _new_figure(1.0 + 5.2 * len(panels), 4.4)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw_panel(axes, panel)
    _write(figure, path)


def draw_intervals(
    title: str, label: str, names: Sequence[str], values: Sequence[float], halves: Sequence[float], path: Path
) -> None:
    """Writes a plot of values with their intervals, value +- half, one named line each, to a PNG file."""
    figure = _new_figure(8.0, 1.4 + 0.28 * len(names))
    axes = figure.subplots()
    axes.set(xlabel=label)
    axes.set_title(title, parse_math=False)
    axes.errorbar(values, range(len(names)), xerr=halves, fmt="o", color=_COLOURS[0], markersize=4, capsize=3)
    axes.set_yticks(range(len(names)), names)
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.invert_yaxis()
    axes.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    _write(figure, path)


def _new_figure(width: float, height: float) -> "Figure":
    """Returns a figure of this size in inches. Matplotlib's font list is in azero's cache folder, not at home."""
    os.environ.setdefault("MPLCONFIGDIR", str(cache_root() / "matplotlib"))
    from matplotlib.figure import Figure  # imported here, because it takes half a second

    return Figure(figsize=(width, height), dpi=110, layout="constrained")


def _write(figure: "Figure", path: Path) -> None:
    data = io.BytesIO()
    figure.savefig(data, format="png", metadata={"Software": None})
    write_whole(path, data.getvalue())


def _draw_panel(axes, panel: Panel) -> None:
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    axes.set_xscale("log" if panel.is_x_log else "linear")
    axes.set_yscale("log" if panel.is_y_log else "linear")
    for k, line in enumerate(panel.lines):
        points = [k for k, y in enumerate(line.ys) if y > 0 or not panel.is_y_log]
        xs, ys = [line.xs[k] for k in points], [line.ys[k] for k in points]
        if line.is_reference:
            axes.plot(xs, ys, "--", color="#777777", linewidth=1.2, label=line.label)
            continue
        colour, marker = _COLOURS[k % len(_COLOURS)], _MARKERS[k % len(_MARKERS)]
        axes.plot(xs, ys, color=colour, marker=marker, markersize=4, linewidth=1.4, label=line.label)
        if line.intervals is not None:
            low, high = zip(*(line.intervals[k] for k in points), strict=True) if points else ((), ())
            axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
    if panel.x_ticks is not None:
        axes.set_xticks(panel.x_ticks, [f"{tick:g}" for tick in panel.x_ticks])
        axes.minorticks_off()
    if panel.y_range is not None:
        axes.set_ylim(*panel.y_range)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, fontsize=9)
