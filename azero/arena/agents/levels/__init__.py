"""Levels of play, from beginner to full strength, and one that adapts to its opponent.

`make_agent("connect_four(level=3)")` plays at a level. `LevelAgent` wraps an agent that is there already. `levels_of`
returns the levels of a game with their strength.
"""

from azero.arena.agents.levels.agent import LevelAgent
from azero.arena.agents.levels.level import ADAPTIVE, Anchor, Level, Table, levels_of, parse_level, table_of

__all__ = ["ADAPTIVE", "Anchor", "Level", "LevelAgent", "Table", "levels_of", "parse_level", "table_of"]
