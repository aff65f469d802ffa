"""A level: the numbers by which an agent plays weaker, its name, and a sentence that says how it plays."""

import re
from dataclasses import dataclass

from azero.errors import BadInput

ADAPTIVE = "adaptive"
"""The level that adapts to its opponent."""

MOST_LEVELS = 8

NAMES = (
    *("Beginner", "Novice", "Casual player", "Improver", "Club player", "Strong player", "Expert"),
    "Full strength",
)
"""Names of eight levels. A game with fewer levels has the first ones and the last one."""


@dataclass(frozen=True)
class Level:
    """How an agent plays at a level. A loss is in points of the score 50 + 50 x value, so a win is 100 points.

    Attributes:
      number: 1 is the weakest level; None for the adaptive one.
      name: what people call it.
      simulations: of each search, which begins afresh at each move.
      temperature: points; a move is drawn with weight exp(-loss / temperature). 0: the best move.
      cap: points; moves that lose more are never drawn.
      sight: probability with which it sees, at a move, its own win in one and the opponent's.
      levels: of the adaptive level: those that it plays at, weakest first. Its own simulations judge the opponent.
      is_full: whether it is the agent itself, which plays its best move after a search of `simulations`.
      elo: above `random`; None if it is not known for this agent.
      elo_ci95: the ends of its 95 % interval.
      games: number of games that it played for the rating.
    """

    number: int | None
    name: str
    simulations: int
    temperature: float = 0.0
    cap: float = 0.0
    sight: float = 1.0
    levels: tuple["Level", ...] = ()
    is_full: bool = False
    elo: float | None = None
    elo_ci95: tuple[float, float] | None = None
    games: int = 0

    @property
    def is_adaptive(self) -> bool:
        """Whether it adapts to its opponent."""
        return self.number is None

    @property
    def text(self) -> str:
        """A sentence or two that say how it plays."""
        if self.is_adaptive:
            return (
                f"Judges your last moves, each by a search of {self.simulations} simulations, and plays at the level "
                f"that would most probably have played them. Before your first move, it plays at a middle level."
            )
        search = f"Searches {self.simulations} simulations"
        if self.is_full:
            return f"{search} and plays the best move."
        sight = "It sees every win in one."
        if self.sight < 1:
            sight = f"It overlooks wins in one, its own and the opponent's, at {1 - self.sight:.0%} of its moves."
        return (
            f"{search}. A move {self.temperature:g} points worse than the best is 2.7 times less likely, and one "
            f"over {self.cap:.0f} points worse is never played. {sight}"
        )

    def to_json(self) -> dict:
        """Returns the object of the HTTP interface: number, name, strength, settings and text."""
        return {
            "level": ADAPTIVE if self.number is None else self.number,
            "name": self.name,
            "elo": self.elo,
            "elo_ci95": None if self.elo_ci95 is None else list(self.elo_ci95),
            "games": self.games,
            "simulations": self.simulations,
            "temperature": self.temperature,
            "cap": self.cap,
            "sight": self.sight,
            "text": self.text,
        }


def name_of_level(number: int, num_levels: int) -> str:
    """Returns the name of a level, 1 the weakest, of a game with `num_levels` levels."""
    return NAMES[-1] if number == num_levels else NAMES[number - 1]


def parse_level(text: str | int) -> int | str:
    """Returns the number of a level, or "adaptive"; raises BadInput. A small game may have fewer levels."""
    text = str(text).strip()
    if text == ADAPTIVE:
        return ADAPTIVE
    if not re.fullmatch(r"[1-9]", text) or int(text) > MOST_LEVELS:
        raise BadInput(f"level = {text[:50]} should be a whole number from 1 to {MOST_LEVELS}, or {ADAPTIVE}")
    return int(text)
