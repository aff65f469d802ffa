"""The law of positions as text: a position's text leads back to a position with the same text, looks and future."""

import random

from azero.games.defaults import has_own
from azero.games.laws.findings import Notes, hold, walk_game
from azero.games.state import Game, State

_METHODS = "position_to_text", "text_to_position"
_NUM_TRIED = 3
"""Moves after which the two positions are compared again."""


def check_position_text(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """A position that is read from its text has the same text, turn, result, planes and legal actions, and equal keys.

    So have the positions after a move. A game that is not history-free may have other legal actions and other results,
    and so its positions after a move are not compared.
    """
    own = [name for name in _METHODS if has_own(game.rules, name)]
    if not own:
        return
    hold(len(own) == 2, f"{own[0]} is defined without the other one of {' and '.join(_METHODS)}", game, [])
    is_history_free = game.rules.is_history_free
    for state, before, action in walk_game(game, actions):
        if not notes.has_time():
            continue
        text = state.to_text()
        back = game.state_from_text(text)
        hold(back.to_text() == text, f"the text {text!r} is read as {back.to_text()!r}", game, before)
        _compare(state, back, is_history_free, before)
        for other in chooser.sample(state.legal_actions(), min(_NUM_TRIED, len(state.legal_actions()))):
            if is_history_free:
                _compare(_after(state, other), _after(back, other), is_history_free, [*before, other])


def _compare(state: State, back: State, is_history_free: bool, before: list[int]) -> None:
    """Raises Broken if a position that was read from text differs from the one that was written."""
    looks = {
        "current_player": (state.current_player(), back.current_player()),
        "planes": (state.planes().tobytes(), back.planes().tobytes()),
        "hash_key": (state.hash_key(), back.hash_key()),
    }
    if is_history_free:
        looks |= {
            "legal_actions": (state.legal_actions(), back.legal_actions()),
            "returns": (state.returns(), back.returns()),
        }
    wrong = [what for what, (one, other) in looks.items() if one != other]
    hold(not wrong, f"text_to_position does not restore {' and '.join(wrong)}", state.game, before)


def _after(state: State, action: int) -> State:
    after = state.clone()
    after.apply_action(action)
    return after
