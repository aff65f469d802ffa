"""Checks of positions: whether they may be asked about, and whether there is nothing but a pass."""

from collections.abc import Sequence

from azero.errors import BadInput
from azero.games.state import Game, State


def check_states(game: Game, states: Sequence[State]) -> None:
    """Raises BadInput unless these are positions of `game`, at least one, in which a move can be played."""
    if not isinstance(states, Sequence) or not len(states):
        raise BadInput("positions are needed: a list of states, at least one")
    for number, state in enumerate(states):
        if not isinstance(state, State) or state.game != game:
            raise BadInput(f"position {number} is {_name_of(state)}; it should be one of {game}")
        if state.is_terminal():
            raise BadInput(f"position {number} is the end of a game; it should have a move to play")


def is_forced_pass(state: State) -> bool:
    """Returns whether a pass is the only legal move."""
    legal = state.legal_actions()
    return len(legal) == 1 and state.game.action_to_text(state, legal[0]) == "pass"


def _name_of(state: object) -> str:
    return f"one of {state.game}" if isinstance(state, State) else f"a {type(state).__name__}"
