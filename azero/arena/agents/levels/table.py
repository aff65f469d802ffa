"""The tables of levels, one file per game in `azero/data/levels/`, made by `benchmarks/levels.py`.

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

from azero.arena.agents.levels.level import ADAPTIVE, Level, name_of_level
from azero.errors import BadInput
from azero.games import Game, without_compiling
from azero.system.files import PACKAGE, read_regular
from azero.system.formats import check_format

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
      identity: the agent's, as `identity_of` returns it. An agent with options is another one; a limit does not matter.
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
