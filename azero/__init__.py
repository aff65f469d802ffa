"""AlphaZero for any two-player board game.

import azero

game = azero.make_game("connect_four")
agent = azero.make_agent("uct@20000", game=game)
suggestion = agent.suggest(game.new_initial_state())
"""

from azero.arena.agents import Agent
from azero.arena.match import MatchResult, play_match
from azero.arena.names import make_agent
from azero.arena.suggestion import Move, Suggestion
from azero.errors import BadInput
from azero.games import Game, State, make_game, registered_games

__version__ = "0.1.0"

__all__ = [
    "Agent", "BadInput", "Game", "MatchResult", "Move", "State", "Suggestion", "__version__",
    "make_agent", "make_game", "play_match", "registered_games",
]  # fmt: skip
