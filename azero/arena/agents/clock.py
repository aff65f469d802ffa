"""How much time moves have: limits of a move, and clocks of a game with main time, increments and byo-yomi."""

import math
import re
from dataclasses import dataclass
from typing import NamedTuple

from azero.errors import BadInput

UNLIMITED = 1 << 30
"""Simulations of a search that has only a time limit."""

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_TIME = r"(?:\d{1,6}(?:\.\d{0,6})?[hms])+"
_FORM = re.compile(rf"({_TIME})?(?:\+(?:(\d{{1,3}})x)?({_TIME}))?", re.ASCII)
_LONGEST_S = 7 * 24 * 3600.0


@dataclass(frozen=True)
class Limit:
    """When a search ends: after this number of simulations or seconds, whichever comes first.

    Nobody has asked for a limit that `is_default`, so a clock replaces it. Other limits hold beside a clock.
    """

    simulations: int = UNLIMITED
    seconds: float | None = None
    is_default: bool = False

    def __post_init__(self) -> None:
        if self.simulations <= 0:
            raise BadInput(f"simulations = {self.simulations} should be 1 or more")
        if self.simulations > UNLIMITED:
            raise BadInput(f"simulations = {self.simulations} should be {UNLIMITED} or less")
        if self.seconds is not None and not 0 < self.seconds < float("inf"):
            raise BadInput(f"seconds = {self.seconds} should be a number greater than 0")

    def unless(self, simulations: int | None, seconds: float | None) -> "Limit":
        """Returns a limit of these numbers instead; this one if both are None."""
        if simulations is seconds is None:
            return self
        return Limit(UNLIMITED if simulations is None else simulations, seconds)

    def beside_clock(self) -> "Limit":
        """Returns the limit of a move that a clock limits, too."""
        return Limit() if self.is_default else self


class TimeControl(NamedTuple):
    """How much time a player has for a game. All times are in seconds."""

    main_s: float = 0.0
    increment_s: float = 0.0  # added after each move
    periods: int = 0  # of byo-yomi, which begins when the main time is over
    period_s: float = 0.0  # a period whose moves take less begins again
    moves: int = 1  # of a period; more than one in Canadian byo-yomi, which has a single period

    @classmethod
    def parse(cls, text: str) -> "TimeControl":
        """Returns a time control by its text; raises BadInput.

        `5m` is five minutes for all moves, `5m+3s` adds three seconds after each move, and `10m+5x30s` has five periods
        of byo-yomi, thirty seconds each. The main time may be left out: `+1x10s` is ten seconds a move.
        """
        match = _FORM.fullmatch(text.strip())
        if match is None or not text.strip():
            raise BadInput(f"clock {text!r} should be a time, e.g. 5m, 5m+3s (increment) or 10m+5x30s (byo-yomi)")
        main_s, more_s = (_seconds_of(part or "") for part in (match[1], match[3]))
        control = cls(main_s, periods=int(match[2]), period_s=more_s) if match[2] else cls(main_s, more_s)
        least_s = control.main_s + control.periods * control.period_s
        if least_s <= 0 or (match[2] and not (control.periods and control.period_s)):
            raise BadInput(f"clock {text!r} leaves no time for the first move; e.g. 5m, 5m+3s or +1x10s")
        if max(least_s, more_s) > _LONGEST_S:
            raise BadInput(f"clock {text!r} should be a week or less")
        return control

    def __str__(self) -> str:
        more = f"+{self.periods}x{_text_of(self.period_s)}" if self.periods else ""
        more += f"/{self.moves}" if self.moves > 1 else ""
        more = f"+{_text_of(self.increment_s)}" if self.increment_s else more
        return (_text_of(self.main_s) if self.main_s or not more else "") + more


def _seconds_of(text: str) -> float:
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(r"([\d.]+)([hms])", text))


def _text_of(seconds: float) -> str:
    for unit in "hm":
        if seconds >= _UNITS[unit] and seconds % _UNITS[unit] == 0:
            return f"{seconds / _UNITS[unit]:g}{unit}"
    return f"{seconds:g}s"


class Clock:
    """The clock of one player.

    Attributes:
      control: the time control.
      main_s: main time left, in seconds.
      periods: periods of byo-yomi left.
      moves: moves left in this period.
      has_fallen: whether the time is over, so that the game is lost.
      used_s: seconds of all moves so far.
    """

    def __init__(self, control: TimeControl):
        self.control = control
        self.main_s, self.periods, self.moves = control.main_s, control.periods, control.moves
        self.has_fallen = False
        self.used_s = 0.0
        self._over_s = 0.0  # of this period

    @property
    def left_s(self) -> float:
        """The most seconds that the next move may take."""
        return 0.0 if self.has_fallen else self.main_s + self.periods * self.control.period_s - self._over_s

    @property
    def period_left_s(self) -> float:
        """The next move's share of its period, in seconds; 0 without periods."""
        return max(0.0, self.control.period_s - self._over_s) / self.moves if self.periods else 0.0

    def set_period(self, left_s: float, moves: int) -> None:
        """Sets what is left of the period: seconds, and moves. The main time is over."""
        self.main_s, self.moves = 0.0, moves
        self._over_s = max(0.0, self.control.period_s - left_s)

    def spend(self, seconds: float, is_turn_over: bool = True) -> None:
        """Takes time from the clock. Increments and periods are of turns, which may have several actions."""
        self.used_s += seconds
        over = seconds - self.main_s
        self.main_s = max(0.0, -over)
        if over > 0.0:
            self._over_s += over
        gone = 0.0
        if self._over_s > 0.0:
            gone = math.inf if self.control.period_s == 0 else math.floor(self._over_s / self.control.period_s)
            self.has_fallen = self.has_fallen or gone >= self.periods
        if is_turn_over and not self.has_fallen:
            self.periods -= int(gone)
            self.moves -= self._over_s > 0.0
            if self.moves <= 0:
                self._over_s, self.moves = 0.0, self.control.moves
            self.main_s += self.control.increment_s

    def __str__(self) -> str:
        minutes, seconds = divmod(round(self.main_s, 1), 60)
        more = f" and {self.periods} x {self.control.period_s:g} s" if self.control.periods else ""
        return f"{int(minutes)}:{seconds:04.1f}{more}"
