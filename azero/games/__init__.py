"""Rules of games: `make_game` finds one by name. A new game is one file here, imported below."""

from azero.games import amazons, breakthrough, clobber, connect_four, go, gomoku, hex, othello, p_game, tic_tac_toe  # noqa: F401, their rules register themselves
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Rules, Symmetries
from azero.games.face import Game, State, make_game, new_states
from azero.games.prototype import Prototype
from azero.games.registry import game, parameters_of, registered_games

__all__ = [
    "DRAW", "LOSS", "ONGOING", "WIN",
    "Game", "Prototype", "Rules", "State", "Symmetries",
    "game", "make_game", "new_states", "parameters_of", "registered_games",
]  # fmt: skip
