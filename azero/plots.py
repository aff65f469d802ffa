"""Plots: lines in panels next to each other, with linear or logarithmic axes, and values with intervals by name."""

import io
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from azero.compiler.cache import cache_root
from azero.system.console import printable
from azero.system.files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")  # Okabe & Ito (2008)
_STYLES = ("-", "--", ":")  # of the lines 1 to 7, 8 to 14 and 15 to 21
_MARKERS = "osD^vPX"
_MOST_MARKERS = 15  # a line with more points has no markers


class Line(NamedTuple):
    """The points of a line. A logarithmic axis leaves out points that are not positive."""

    label: str
    xs: Sequence[float]
    ys: Sequence[float]
    intervals: Sequence[tuple[float, float]] | None = None  # one per y
    is_reference: bool = False  # drawn dashed and grey
    parts: Sequence[tuple[Sequence[float], Sequence[float]]] = ()  # the xs and ys of thin lines of the same colour


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
    """Writes the panels, in a row, to a PNG file. Each has its own legend."""
    figure = _new_figure(1.0 + 5.2 * len(panels), 4.4)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        _draw_panel(axes, panel)
        axes.legend(frameon=False, fontsize=9)
    _save(figure, path)


def draw_grid(panels: Sequence[Panel], path: Path, num_columns: int, note: str) -> None:
    """Writes panels with the same lines, in rows, to a PNG file. They share the
    x axis, which is linear, and a legend with a note above it."""
    num_columns = min(num_columns, len(panels))
    num_rows = -(-len(panels) // num_columns)
    num_lines = len(panels[0].lines)
    figure = _new_figure(0.6 + 3.9 * num_columns, 0.7 + 2.7 * num_rows + 0.2 * num_lines)
    places = figure.subplots(num_rows, num_columns, squeeze=False, sharex=True).ravel()
    for k, (axes, panel) in enumerate(zip(places, panels, strict=False)):
        is_lowest = k + num_columns >= len(panels)
        _draw_panel(axes, panel if is_lowest else panel._replace(x_label=""))
        axes.tick_params(labelbottom=is_lowest)
    for axes in places[len(panels) :]:
        axes.set_visible(False)
    handles, labels = places[0].get_legend_handles_labels()
    looks = {"frameon": False, "fontsize": 10, "alignment": "left"}
    figure.legend(handles, labels, loc="outside lower left", title=_as_label(note), **looks)
    _save(figure, path)


def draw_intervals(
    title: str, label: str, names: Sequence[str], values: Sequence[float], halves: Sequence[float], path: Path
) -> None:
    """Writes a plot of values with their intervals, value +- half, one named line each, to a PNG file."""
    figure = _new_figure(8.0, 1.4 + 0.28 * len(names))
    axes = figure.subplots()
    axes.set(xlabel=label)
    axes.set_title(_as_label(title))
    axes.errorbar(values, range(len(names)), xerr=halves, fmt="o", color=_COLOURS[0], markersize=4, capsize=3)
    axes.set_yticks(range(len(names)), names)
    for text in axes.get_yticklabels():
        text.set_parse_math(False)
    axes.invert_yaxis()
    axes.grid(True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    _save(figure, path)


def _new_figure(width: float, height: float) -> "Figure":
    """Returns a figure, with sizes in inches. Matplotlib's font list is in azero's cache folder, not in the home."""
    os.environ.setdefault("MPLCONFIGDIR", str(cache_root() / "matplotlib"))
    from matplotlib.figure import Figure  # imported here, because it takes half a second

    return Figure(figsize=(width, height), dpi=110, layout="constrained")


def _save(figure: "Figure", path: Path) -> None:
    data = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a letter that the font lacks is drawn as a box
        figure.savefig(data, format="png", metadata={"Software": None})
    write_whole(path, data.getvalue())


def _draw_panel(axes, panel: Panel) -> None:
    axes.set(title=_as_label(panel.title), xlabel=panel.x_label, ylabel=panel.y_label)
    axes.set_xscale("log" if panel.is_x_log else "linear")
    axes.set_yscale("log" if panel.is_y_log else "linear")
    for k, line in enumerate(panel.lines):
        points = [k for k, y in enumerate(line.ys) if y > 0 or not panel.is_y_log]
        xs, ys = [line.xs[k] for k in points], [line.ys[k] for k in points]
        if line.is_reference:
            axes.plot(xs, ys, "--", color="#777777", linewidth=1.2, label=line.label)
            continue
        colour, style = _COLOURS[k % len(_COLOURS)], _STYLES[k // len(_COLOURS) % len(_STYLES)]
        marker = _MARKERS[k % len(_MARKERS)] if len(xs) <= _MOST_MARKERS else None
        for part in line.parts:
            axes.plot(*part, color=colour, linestyle=style, linewidth=0.8, alpha=0.6)
        looks = {"color": colour, "linestyle": style, "marker": marker, "markersize": 4, "linewidth": 1.4}
        axes.plot(xs, ys, label=_as_label(line.label), **looks)
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


def _as_label(text: str) -> str:
    """Returns a text as matplotlib shows it: "$" would begin a formula, and a label with "_" in front is left out."""
    plain = printable(text).replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain
