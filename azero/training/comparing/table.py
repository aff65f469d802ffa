"""The table of a comparison: a row per group."""

from collections.abc import Callable
from typing import NamedTuple

from azero.system.console import printable
from azero.training.comparing.comparison import Comparison
from azero.training.comparing.groups import Group
from azero.training.comparing.measures import SCORE, Measure

_MOST_SEEDS = 4  # more are counted, not listed


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
