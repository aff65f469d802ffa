"""AlphaZero for any two-player board game.

import azero

game = azero.make_game("connect_four")
agent = azero.make_agent("uct@20000", game=game)
suggestion = agent.suggest(game.new_initial_state())
"""

import importlib

TYPE_CHECKING = False  # type checkers take it as true; importing it from typing would cost time
if TYPE_CHECKING:
    from azero.arena.agents.agent import Agent as Agent
    from azero.arena.agents.names import make_agent as make_agent
    from azero.arena.agents.suggestion import Move as Move
    from azero.arena.agents.suggestion import Suggestion as Suggestion
    from azero.arena.matches.match import MatchResult as MatchResult
    from azero.arena.matches.match import play_match as play_match
    from azero.errors import BadInput as BadInput
    from azero.games import Game as Game
    from azero.games import State as State
    from azero.games import make_game as make_game
    from azero.games import registered_games as registered_games

__version__ = "0.1.0"

_MODULES = {
    "Agent": "arena.agents.agent",
    "BadInput": "errors",
    "Game": "games",
    "MatchResult": "arena.matches.match",
    "Move": "arena.agents.suggestion",
    "State": "games",
    "Suggestion": "arena.agents.suggestion",
    "make_agent": "arena.agents.names",
    "make_game": "games",
    "play_match": "arena.matches.match",
    "registered_games": "games",
}
"""The module of each public name."""

__all__ = sorted([*_MODULES, "__version__"])


def __getattr__(name: str) -> object:
    """Returns a public name. Its module is imported on first use, so commands start and stop quickly."""
    if name not in _MODULES:
        raise AttributeError(f"module 'azero' has no attribute {name!r}")
    return getattr(importlib.import_module(f"azero.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """Returns the public names, so that completion offers them before they are imported."""
    return list(__all__)
