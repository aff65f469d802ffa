"""AlphaZero for any two-player board game.

import azero

game = azero.make_game("connect_four")
agent = azero.make_agent("uct@20000", game=game)
suggestion = agent.suggest(game.new_initial_state())
"""

import importlib

TYPE_CHECKING = False  # to type checkers it is true; typing's own would have to be imported
if TYPE_CHECKING:
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


def __getattr__(name: str) -> object:
    """Returns a public name, imported when one is first asked for: until then a command starts, and stops, at once."""
    if name in __all__:
        for place in ("arena.agents", "arena.match", "arena.names", "arena.suggestion", "errors", "games"):
            module = importlib.import_module(f"azero.{place}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'azero' has no attribute {name!r}")
