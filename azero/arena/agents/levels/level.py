"""Levels: the numbers by which an agent plays weaker, and the table of a game's levels.

The tables are files in `azero/data/levels/`, one per game, made by `benchmarks/levels.py`:

    {"format": 1, "game": "go(size=7)", "agent": "net:0123456789abcdef", "date": "2026-11-26", "azero": "0.5.0",
     "anchors": [{"name": "random", "elo": 0, ...}], "levels": [{...}, ...], ...}

`agent` is the one that was calibrated: `uct`, or a net by the digest of its file. The settings of the levels apply to
other agents, too, but their Elo is then unknown.
"""

import dataclasses
import functools
import json
import re
from dataclasses import dataclass
from pathlib import Path

from azero.errors import BadInput
from azero.games import Game, without_compiling
from azero.system.files import PACKAGE, read_regular
from azero.system.formats import check_format

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


FORMAT = 1
"""Format version of the files."""

_FOLDER = PACKAGE / "data" / "levels"
_LARGEST = 1 << 20  # bytes

_DEFAULTS: tuple[tuple[int, float, float, float], ...] = (  # simulations, temperature, cap, sight
    *((20, 60.0, 90.0, 0.87), (30, 40.0, 80.0, 0.9), (60, 25.0, 60.0, 0.95), (60, 14.0, 45.0, 0.98)),
    *((100, 9.0, 35.0, 1.0), (200, 5.0, 22.0, 1.0), (400, 2.0, 10.0, 1.0)),
)
_FULL = 1000  # simulations of the last level, if the game has no table


@dataclass(frozen=True)
class Anchor:
    """An agent of known Elo above `random`, to compare levels with."""

    name: str
    elo: float
    elo_ci95: tuple[float, float]


@dataclass(frozen=True)
class Table:
    """The levels of a game.

    Attributes:
      game: the game's name, with its parameters.
      agent: the identity of the calibrated agent; empty if the game has not been calibrated.
      levels: the levels, weakest first; the last one is full strength.
      anchors: other agents on the same scale.
      date: of the calibration.
      opponents: how the games were played.
    """

    game: str
    agent: str
    levels: tuple[Level, ...]
    anchors: tuple[Anchor, ...] = ()
    date: str = ""
    opponents: str = ""

    @property
    def adaptive(self) -> Level:
        """The level that adapts to its opponent."""
        return Level(None, "Adaptive", self.levels[-1].simulations // 2, levels=self.levels)

    def level(self, level: int | str) -> Level:
        """Returns a level by its number, or the adaptive one; raises BadInput if the game has no such level."""
        if level == ADAPTIVE:
            return self.adaptive
        if not isinstance(level, int) or not 1 <= level <= len(self.levels):
            raise BadInput(f"level = {level} should be from 1 to {len(self.levels)} in {self.game}, or {ADAPTIVE}")
        return self.levels[level - 1]


def levels_of(game: Game, identity: str) -> Table:
    """Returns the levels of an agent in a game. Their Elo is known only for the agent that was calibrated.

    Args:
      identity: the agent's, as `identity_of_agent` returns it. An agent with options is another one; a limit
        does not matter.
    """
    table = table_of(game)
    if re.sub(r"@[\d.]+s?$", "", identity) == table.agent:
        return table
    levels = tuple(dataclasses.replace(level, elo=None, elo_ci95=None, games=0) for level in table.levels)
    return dataclasses.replace(table, agent="", levels=levels, date="", opponents="")


def table_of(game: Game) -> Table:
    """Returns the game's table; one with default settings and without Elo if the game has not been calibrated."""
    return tables().get(str(game)) or _default_table(game)


@functools.cache
def tables() -> dict[str, Table]:
    """Returns the tables that ship, by the names of the games."""
    read = [read_table(path) for path in sorted(_FOLDER.glob("*.json"))]
    return {table.game: table for table in read}


def read_table(path: Path) -> Table:
    """Returns the table in a file; raises BadInput if it is damaged."""
    data = json.loads(read_regular(path, _LARGEST))
    check_format(f"levels {path.name!r}", data.get("format"), FORMAT)
    levels = [_read_level(each, place + 1, len(data["levels"])) for place, each in enumerate(data["levels"])]
    anchors = tuple(Anchor(each["name"], each["elo"], tuple(each["elo_ci95"])) for each in data["anchors"])
    return Table(data["game"], data["agent"], tuple(levels), anchors, data["date"], data["opponents"])


def _read_level(data: dict, number: int, num_levels: int) -> Level:
    interval = tuple(data["elo_ci95"])
    fields = {**data, "elo_ci95": interval, "is_full": number == num_levels}
    return Level(number, name_of_level(number, num_levels), **fields)


@functools.lru_cache(maxsize=64)
def _default_table(game: Game) -> Table:
    """Returns default settings. Simulations grow with the legal moves of the initial position, up to full strength."""
    with without_compiling(game.rules):  # lists of games and agents should not wait for the compiler
        breadth = max(1.0, len(game.new_initial_state().legal_actions()) / 10)
    num_levels = len(_DEFAULTS) + 1
    levels = [
        Level(
            number, name_of_level(number, num_levels), min(_FULL, round(breadth * simulations)), temperature, cap, sight
        )
        for number, (simulations, temperature, cap, sight) in enumerate(_DEFAULTS, 1)
    ]
    levels.append(Level(num_levels, name_of_level(num_levels, num_levels), _FULL, is_full=True))
    return Table(str(game), "", tuple(levels))
