"""The trial of a user's rules when they are loaded: a few random games in plain Python, then compilation."""

import functools
import random

from azero.compiler.plain import plain_python
from azero.errors import BadInput
from azero.games.calls import compile_rules
from azero.games.contract import Rules
from azero.games.kernels import is_compiled
from azero.games.state import Game
from azero.games.user.interpreted import Interpreted
from azero.games.user.messages import refusal
from azero.games.user.mistakes import find_hidden

_LEAST_GAMES, _LEAST_PLIES = 3, 300


def try_out(rules: Rules, file: str, compiles: bool = True) -> None:
    """Raises BadInput, with the method and the line, if the rules break the contract in a few random games.

    Args:
      file: where the rules are now. They may have been loaded from another place with the same content.
      compiles: whether the rules are compiled, too. Otherwise nothing is: `compile_game` may do it later.
    """
    if compiles:
        _play(rules, file)  # type: ignore[arg-type]
        compile_game(Game(rules))
        return
    with plain_python():
        _play(rules, file)  # type: ignore[arg-type]


@functools.lru_cache(maxsize=None, typed=True)  # rules of two classes are equal if their parameters are
def _play(rules: Rules, file: str) -> None:
    """Plays random games in plain Python, and calls every method."""
    name = f"{file}:{type(rules).__qualname__}"
    plain = Interpreted(rules, name)
    if mistake := find_hidden(file, rules):
        raise BadInput(f"{name}.{mistake.function}, line {mistake.line}: {mistake.what}")
    chooser = random.Random(0)
    games = plies = 0
    while games < _LEAST_GAMES or plies < _LEAST_PLIES:
        plain.play_at_random(chooser)
        games, plies = games + 1, plies + 1 + len(plain.moves)
    plain.try_rollouts(chooser)
    plain.try_texts()


def compile_game(game: Game) -> None:
    """Compiles a game's rules, or loads them from the cache of kernels; at once if this process has done so before.

    Raises BadInput with method, line and reason if a method of a user's game cannot be compiled.
    """
    if is_compiled(game.rules):
        return
    try:
        compile_rules(game)
    except BadInput:
        raise
    except Exception as error:  # not all errors of the compiler are NumbaErrors
        if not (name := getattr(type(game.rules), "file_name", "")):
            raise
        raise BadInput(refusal(error, game.rules, name)) from None
