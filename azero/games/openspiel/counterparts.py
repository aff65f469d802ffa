"""The same game in OpenSpiel: its positions and actions, for players of the one who play the other."""

import math
from collections.abc import Callable
from typing import Any

from azero.errors import BadInput
from azero.games.names import OPENSPIEL
from azero.games.openspiel.library import open_game
from azero.games.openspiel.positions import OPENED
from azero.games.state import Game, State

_NAMES: dict[str, Callable[[Any], str | None]] = {
    "amazons": lambda rules: f"amazons(board_size={rules.rows})" if rules.rows == rules.columns else None,
    "breakthrough": lambda rules: f"breakthrough(columns={rules.columns},rows={rules.rows})",
    "clobber": lambda rules: f"clobber(columns={rules.columns},rows={rules.rows})",
    "connect_four": lambda rules: f"connect_four(columns={rules.columns},rows={rules.rows})",
    "gomoku": lambda rules: (
        f"gomoku(connect={rules.k},size={rules.rows})" if rules.rows == rules.columns and not rules.exact else None
    ),
    "hex": lambda rules: f"hex(board_size={rules.size},swap={rules.swap})",
    "othello": lambda rules: "othello" if rules.size == 8 else None,
    "tic_tac_toe": lambda rules: "tic_tac_toe",
}
"""OpenSpiel's names of azero's own games. Go is not among them: superko differs."""


def _in_amazons(state: State, position: Any, action: int) -> int:
    cells = math.prod(state.game.planes_shape[1:])
    return len(state.history()) % 3 * cells + action  # a turn is three actions, with numbers of their own


def _in_clobber(state: State, position: Any, action: int) -> int:
    return state.game.text_to_action(state, position.action_to_string(action))


def _in_breakthrough(state: State, position: Any, action: int) -> int:
    rows, text = state.game.planes_shape[1], position.action_to_string(action)  # rows count from the other side
    columns, ranks = text[0:4:2], [rows - ord(each) + ord("0") + 1 for each in text[1:4:2]]
    return state.game.text_to_action(state, "".join(f"{each}{rank}" for each, rank in zip(columns, ranks, strict=True)))


_OWN_ACTIONS = {"amazons": _in_amazons, "breakthrough": _in_breakthrough, "clobber": _in_clobber}
"""How azero numbers an action of OpenSpiel's in a position, where the numbers differ."""


class Counterpart:
    """A game in azero and in OpenSpiel.

    Attributes:
      game: azero's.
      theirs: the `pyspiel.Game`.
    """

    def __init__(self, game: Game):
        """Raises BadInput if OpenSpiel is not installed, or does not have the game."""
        self.game = game
        self._base = game.name.partition("(")[0]
        if game.name.startswith(OPENSPIEL):
            self.theirs = OPENED[game.rules.number].opened.game  # type: ignore[attr-defined]
            return
        name = _NAMES[self._base](game.rules) if self._base in _NAMES else None
        if name is None:
            raise BadInput(f"OpenSpiel does not have {game} as azero plays it; it has {', '.join(_NAMES)}")
        self.theirs = open_game(f"{OPENSPIEL}{name}").game

    def check_is_of(self, theirs: Any) -> None:
        """Raises BadInput unless this is OpenSpiel's game, with the same parameters."""
        pairs = [(game.get_type().short_name, game.get_parameters()) for game in (self.theirs, theirs)]
        if pairs[0] != pairs[1]:
            raise BadInput(f"this bot plays {self.theirs}, not {theirs}")

    def position(self, state: State) -> Any:
        """Returns OpenSpiel's position for a state; raises BadInput if the moves that led to it are not known."""
        if not state.is_replayable():
            raise BadInput(
                f"OpenSpiel needs the moves that lead to a position of {self.game}; give them as 'moves: ...'"
            )
        position, replayed = self.theirs.new_initial_state(), self.game.new_initial_state()
        for action in state.history():
            position.apply_action(self.their_action(replayed, position, action))
            replayed.apply_action(action)
        return position

    def own_action(self, state: State, position: Any, action: int) -> int:
        """Returns azero's number of OpenSpiel's action. State and position are the same."""
        own_action = _OWN_ACTIONS.get(self._base)
        return own_action(state, position, action) if own_action else action

    def their_action(self, state: State, position: Any, action: int) -> int:
        """Returns OpenSpiel's number of azero's action."""
        if self._base not in _OWN_ACTIONS:
            return action
        return next(each for each in position.legal_actions() if self.own_action(state, position, each) == action)
