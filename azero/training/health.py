"""The health of a run: figures of its settings and metrics, each with the range in which runs have learned.

A figure outside its range is a symptom. It names a cause, and what to change. `azero train` warns of symptoms after an
iteration; `azero doctor` ranks them.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from azero.config.schema import Config
from azero.system.formats import is_number

Line = dict[str, Any]

LASTING = 3
"""Iterations that a symptom in the metrics must last. In one iteration it is often an accident."""

STALLED = 20
"""Iterations without a promotion. If gates pass one candidate in five, this happens in 1 run of 100 by chance."""

EARLY = 10
"""Iterations in which a certain search, or games without a decision, are suspicious. Later they may be right."""

UNIFORM = math.log(3)
"""The value loss of a uniform output, in nats."""

CERTAIN = 0.05
"""Entropy of the search's policy, in nats, that is almost zero: 99 % of the visits are on one move."""

LEARNED = 0.05
"""A value loss, in nats, with nothing left to learn: the predicted probability of the result is 95 %."""

MOST_EXCESS = math.log(1000)


class Case(NamedTuple):
    """What is known of a run.

    Attributes:
      config: its settings.
      lines: of metrics.jsonl, oldest first.
      moves: legal moves of a position, on average; None where nobody has looked.
    """

    config: Config
    lines: Sequence[Line]
    moves: float | None = None

    def last(self, key: str, num: int = LASTING) -> list[float]:
        """Returns a metric in the last iterations; nothing if one lacks it, or if there are fewer."""
        found = [number for line in self.lines[-num:] if (number := number_of(line, key)) is not None]
        return found if len(found) == num else []

    def first(self, key: str) -> float | None:
        """Returns a metric in the first iteration."""
        return number_of(self.lines[0], key) if self.lines else None

    def setting(self, name: str) -> float:
        section, key = name.split(".")
        return float(getattr(getattr(self.config, section), key))

    @property
    def steps(self) -> float:
        """Steps of training in the whole run, done and to come; 0 before the first."""
        return self._whole("steps")

    @property
    def planned(self) -> float:
        """Positions of self-play in the whole run, played and to come; 0 before the first."""
        return self._whole("positions")

    def _whole(self, key: str) -> float:
        so_far, done = self.last(key, 1), self.last("iteration", 1)
        return so_far[0] / done[0] * max(done[0], self.config.training.iterations) if so_far and done[0] > 0 else 0.0


def number_of(line: Line, key: str) -> float | None:
    """Returns a metric; None if it is missing or no number."""
    value = line.get(key)
    return float(value) if is_number(value) else None  # type: ignore[arg-type]


class Side(NamedTuple):
    """An end of a range, and what it means to be beyond it."""

    limit: float
    cause: str
    advice: str


class Figure(NamedTuple):
    """A figure of a run.

    Attributes:
      name: of a setting or metric, or what the figure is.
      values_of: returns it, in each of some iterations; nothing where it cannot be told. It is outside its range if all
        are, on the same side.
    """

    name: str
    values_of: Callable[[Case], Sequence[float]]
    low: Side | None = None
    high: Side | None = None


class Finding(NamedTuple):
    """What is wrong: mostly, a figure outside its range.

    Attributes:
      name: the figure's; empty if there is none.
      excess: how far it is outside, as the logarithm of a ratio.
    """

    cause: str
    advice: str
    name: str = ""
    value: float = 0.0
    limit: float = 0.0
    excess: float = MOST_EXCESS

    def __str__(self) -> str:
        if not self.name:
            return f"{self.cause}: {self.advice}"
        least = "least" if self.value < self.limit else "most"
        return (
            f"{self.cause}: {self.name} is {_shown(self.value)}, and should be at {least} {self.limit:g}; {self.advice}"
        )


def examine(case: Case, figures: Sequence[Figure]) -> list[Finding]:
    """Returns what is wrong, what is farthest outside its range first, each cause once."""
    found = [finding for each in figures if (finding := _finding_in(each, each.values_of(case)))]
    by_cause: dict[str, Finding] = {}
    for each in sorted(found, key=lambda finding: -finding.excess):
        by_cause.setdefault(each.cause, each)
    return list(by_cause.values())


def _finding_in(figure: Figure, values: Sequence[float]) -> Finding | None:
    if not values:
        return None
    for side, value, beyond in ((figure.low, max(values), -1), (figure.high, min(values), 1)):
        if side and (value - side.limit) * beyond > 0:
            excess = min(MOST_EXCESS, abs(_log_ratio(value, side.limit)))
            return Finding(side.cause, side.advice, figure.name, value, side.limit, excess)
    return None


def _log_ratio(value: float, limit: float) -> float:
    """Returns log(value / limit), of a share near 1 that of what is missing to 1; infinity if one of them is 0."""
    if 0.9 <= limit < 1:
        value, limit = 1 - value, 1 - limit
    return math.log(value / limit) if value > 0 and limit > 0 else math.inf


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
