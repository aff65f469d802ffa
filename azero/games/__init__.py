"""The rules of games. `make_game` returns a game by name. A new game is a folder here with a `rules.py`."""

from importlib import import_module
from pathlib import Path

from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Rules, Symmetries
from azero.games.kernels import without_compiling
from azero.games.laws.prototype import Prototype
from azero.games.make import make_game
from azero.games.registry import game, parameters_of, registered_games
from azero.games.state import Game, State, new_states
from azero.games.user.trial import compile_game

__all__ = [
    "DRAW", "LOSS", "ONGOING", "WIN",
    "Game", "Prototype", "Rules", "State", "Symmetries",
    "compile_game", "game", "make_game", "new_states", "parameters_of", "registered_games", "without_compiling",
]  # fmt: skip

for _rules in sorted(Path(__file__).parent.glob("*/rules.py")):
    import_module(f"{__name__}.{_rules.parent.name}")  # its rules register themselves
