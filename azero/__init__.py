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
    from azero.arena.agents.analysis import Analysis as Analysis
    from azero.arena.agents.checkpoints import load_checkpoint as load_checkpoint
    from azero.arena.agents.clock import TimeControl as TimeControl
    from azero.arena.agents.make import make_agent as make_agent
    from azero.arena.agents.suggestion import Move as Move
    from azero.arena.agents.suggestion import Suggestion as Suggestion
    from azero.arena.matches.match import play_match as play_match
    from azero.arena.matches.results import MatchResult as MatchResult
    from azero.arena.matches.timed import play_timed_match as play_timed_match
    from azero.arena.ratings.rating_pool import Ratings as Ratings
    from azero.arena.ratings.rating_pool import rate as rate
    from azero.arena.reviews.review import GameReview as GameReview
    from azero.arena.reviews.review import MoveReview as MoveReview
    from azero.arena.reviews.review import Reviewer as Reviewer
    from azero.config.reading import load_config as load_config
    from azero.config.schema import Config as Config
    from azero.errors import BadInput as BadInput
    from azero.games import Game as Game
    from azero.games import State as State
    from azero.games import make_game as make_game
    from azero.games import registered_games as registered_games
    from azero.interfaces.openspiel_bot import to_openspiel_bot as to_openspiel_bot
    from azero.mcts.roots.gumbel import GumbelRoot as GumbelRoot
    from azero.mcts.roots.visits import VisitsRoot as VisitsRoot
    from azero.mcts.search.analysis import SearchTree as SearchTree
    from azero.mcts.search.search import Search as Search
    from azero.mcts.search.search import SearchResult as SearchResult
    from azero.mcts.selection import Puct as Puct
    from azero.nets.checkpoint import Checkpoint as Checkpoint
    from azero.nets.checkpoint import new_checkpoint as new_checkpoint
    from azero.nets.checkpoint import save_checkpoint as save_checkpoint
    from azero.nets.checkpoint_file import Card as Card
    from azero.publishing.files import publish as publish
    from azero.records import Record as Record
    from azero.records import read_records as read_records
    from azero.records import save_records as save_records
    from azero.runs.shards import load_games as load_games
    from azero.selfplay.data.games import Games as Games
    from azero.training.callbacks import Callback as Callback
    from azero.training.callbacks import RunView as RunView
    from azero.training.callbacks import StopTraining as StopTraining
    from azero.training.comparison import Comparison as Comparison
    from azero.training.comparison import compare_runs as compare_runs
    from azero.training.train import train as train

__version__ = "0.1.0"

_MODULES = {
    "Agent": "arena.agents.agent",
    "Analysis": "arena.agents.analysis",
    "BadInput": "errors",
    "Callback": "training.callbacks",
    "Card": "nets.checkpoint_file",
    "Checkpoint": "nets.checkpoint",
    "Comparison": "training.comparison",
    "Config": "config.schema",
    "Game": "games",
    "GameReview": "arena.reviews.review",
    "Games": "selfplay.data.games",
    "GumbelRoot": "mcts.roots.gumbel",
    "MatchResult": "arena.matches.results",
    "Move": "arena.agents.suggestion",
    "MoveReview": "arena.reviews.review",
    "Puct": "mcts.selection",
    "Ratings": "arena.ratings.rating_pool",
    "Record": "records",
    "Reviewer": "arena.reviews.review",
    "RunView": "training.callbacks",
    "Search": "mcts.search.search",
    "SearchResult": "mcts.search.search",
    "SearchTree": "mcts.search.analysis",
    "State": "games",
    "StopTraining": "training.callbacks",
    "Suggestion": "arena.agents.suggestion",
    "TimeControl": "arena.agents.clock",
    "VisitsRoot": "mcts.roots.visits",
    "compare_runs": "training.comparison",
    "load_checkpoint": "arena.agents.checkpoints",
    "load_config": "config.reading",
    "load_games": "runs.shards",
    "make_agent": "arena.agents.make",
    "make_game": "games",
    "new_checkpoint": "nets.checkpoint",
    "play_match": "arena.matches.match",
    "play_timed_match": "arena.matches.timed",
    "publish": "publishing.files",
    "rate": "arena.ratings.rating_pool",
    "read_records": "records",
    "registered_games": "games",
    "save_checkpoint": "nets.checkpoint",
    "save_records": "records",
    "to_openspiel_bot": "interfaces.openspiel_bot",
    "train": "training.train",
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
