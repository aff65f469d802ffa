"""The trial of a user's rules when they are loaded: a few random games in plain Python, then compilation."""

import functools
import random

from azero.errors import BadInput
from azero.games.calls import rollout_action_of, rollout_of, target_of
from azero.games.contract import Rules
from azero.games.defaults import has_own
from azero.games.state import Game
from azero.games.user.interpreted import Interpreted
from azero.games.user.messages import refusal
from azero.games.user.mistakes import find_hidden

_LEAST_GAMES, _LEAST_PLIES = 3, 300


@functools.lru_cache(maxsize=None, typed=True)  # rules of two classes are equal if their parameters are
def try_out(rules: Rules) -> None:
    """Raises BadInput, with the method and the line, if the rules break the contract in a few random games."""
    name = type(rules).file_name  # type: ignore[attr-defined]
    plain = Interpreted(rules, name)
    if mistake := find_hidden(name.rpartition(":")[0], rules):
        raise BadInput(f"{name}.{mistake.function}, line {mistake.line}: {mistake.what}")
    chooser = random.Random(0)
    games = plies = 0
    while games < _LEAST_GAMES or plies < _LEAST_PLIES:
        plain.play_at_random(chooser)
        games, plies = games + 1, plies + 1 + len(plain.moves)
    plain.try_rollouts(chooser)
    plain.try_texts()
    compile_all(Game(rules), name)


def compile_all(game: Game, name: str) -> None:
    """Compiles every method. Raises BadInput with method, line and reason if one cannot be compiled."""
    try:
        state = game.new_initial_state()
        state.planes(), state.hash_key(), state.final_score()
        if has_own(game.rules, "ownership"):
            state.ownership()
        if has_own(game.rules, "rollout_action"):
            rollout_action_of(state.clone(), seed=0)
        if has_own(game.rules, "rollout"):
            rollout_of(state.clone(), seed=0)
        if has_own(game.rules, "target"):
            target_of(state, state.legal_actions()[0])
    except BadInput:
        raise
    except Exception as error:  # not all errors of the compiler are NumbaErrors
        raise BadInput(refusal(error, game.rules, name)) from None
