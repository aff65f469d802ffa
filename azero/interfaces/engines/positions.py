"""Positions as controllers set them up: moves out of turn, stones on a board, boards of other sizes."""

from collections.abc import Sequence
from typing import Any

from azero.errors import BadInput
from azero.games import Game, State
from azero.games.boards import GO_LETTERS, LETTERS
from azero.games.go.rules import Go
from azero.games.names import parts_of
from azero.games.position_text import PLAYERS, board_to_text, text_to_board
from azero.games.state import is_forced_pass

SWAP = "swap-pieces"
"""The swap of Hex, as HexGui writes it."""

_BOARD_GAMES = {"go": "Go", "othello": "Othello", "gomoku": "Gomoku", "hex": "Hex", "tic_tac_toe": "Tictactoe"}
"""The games whose moves are points, by their names for GoGui."""

_AREA = {"tromp-taylor", "chinese", "chinese-ogs", "chinese-kgs", "aga", "bga", "new-zealand"}
_NOT_OURS = {"japanese", "korean", "stone-scoring", "aga-button"}


def points_name(game: Game) -> str | None:
    """Returns GoGui's name of a game whose moves are points or passes; None for other games."""
    file, name, _ = parts_of(game.name)
    return None if file else _BOARD_GAMES.get(name)


def rules_of(game: Game) -> dict[str, Any]:
    """Returns the rules of a game of Go as KataGo writes them; raises BadInput for other games."""
    if not isinstance(game.rules, Go):
        raise BadInput(f"{game} is not Go")
    ko, suicide = "POSITIONAL" if game.rules.superko else "SIMPLE", bool(game.rules.suicide)
    others = {"tax": "NONE", "whiteHandicapBonus": "0", "hasButton": False, "friendlyPassOk": False}
    return {"ko": ko, "scoring": "AREA", "suicide": suicide, **others}


def complaint_of_rules(rules: object) -> str:
    """Returns why azero does not play these rules of KataGo's, a name or an object; empty if it does, or nearly so.

    Raises BadInput if they are none.
    """
    if isinstance(rules, dict):
        is_ours = rules.get("scoring", "AREA") == "AREA" and rules.get("tax", "NONE") == "NONE"
        name, is_ours = "these", is_ours and not rules.get("hasButton")
    else:
        name = rules.lower().replace("_", "-") if isinstance(rules, str) else ""
        if name not in _AREA | _NOT_OURS:
            raise BadInput(f"Could not parse rules: {str(rules)[:100]}")
        is_ours = name in _AREA
    return "" if is_ours else f"{name} rules are not played here; azero plays by area scoring with positional superko"


class Vertices:
    """How moves are written: points in capitals, other moves in the game's notation.

    Go's columns have no I. In other games they do, as in azero's notation, unless `skips_i`: GoGui never has one.
    """

    skips_i = False

    def __init__(self, game: Game):
        self._game, self._is_go = game, points_name(game) == "Go"

    def write(self, text: str) -> str:
        """Returns the vertex of a move in the game's notation."""
        if text == "swap":
            return SWAP
        if not _is_point(text):
            return text
        if self.skips_i and not self._is_go:
            text = GO_LETTERS[LETTERS.index(text[0])] + text[1:]
        return text.upper()

    def read(self, text: str) -> str:
        """Returns the move in the game's notation that a vertex names."""
        low = text.lower()
        if low in (SWAP, "swap-sides"):
            return "swap"
        if _is_point(low) and self.skips_i and not self._is_go and low[0] in GO_LETTERS:
            return LETTERS[GO_LETTERS.index(low[0])] + low[1:]
        return low if _is_point(low) or low in ("pass", "swap") else text


def _is_point(text: str) -> bool:
    return len(text) in (2, 3) and text[0] in LETTERS and text[1:].isdecimal() and text.isascii()


def after_move(state: State, text: str, vertices: Vertices) -> State:
    """Returns the position after a move: an action, or several of a turn; raises BadInput with GTP's message."""
    game, after = state.game, state.clone()
    named = vertices.read(text)
    parts = [named] if _is_read(after, named) else game.rules.split_moves(text)
    if not parts:
        raise BadInput("syntax error")
    for part in parts:
        if not _is_read(after, part):
            raise BadInput("illegal move" if part == "pass" else "syntax error")  # a game without passes
        action = game.rules.text_to_action(after.record, part)
        if action not in after.legal_actions() or after.current_player() != state.current_player():
            raise BadInput("illegal move")
        after.apply_action(action)
    return after


def _is_read(state: State, text: str) -> bool:
    try:
        state.game.rules.text_to_action(state.record, text)
    except BadInput:
        return False
    return True


def actions_of(state: State, points: Sequence[str], vertices: Vertices) -> set[int]:
    """Returns the legal actions among points; those that are not legal here are left out. Raises BadInput."""
    actions = set()
    for point in points:
        named = vertices.read(point)
        if not _is_read(state, named):
            raise BadInput("syntax error")
        actions.add(state.game.rules.text_to_action(state.record, named))
    return actions & set(state.legal_actions())


def turned_to(state: State, player: int, text: str = "") -> State:
    """Returns the position with this player to move, whoever is by the rules; raises BadInput.

    A forced pass is played. Elsewhere it is the same board with another player to move, if the game has that. Go goes
    on after two passes, as controllers expect.

    Args:
      text: the move that the player is to make.
    """
    if state.is_terminal() and points_name(state.game) == "Go":
        state = with_player(state, int(state.record["ply"]) & 1)
    if state.is_terminal() or state.current_player() == player:
        return state
    if is_forced_pass(state) and text.lower() != "pass":
        after = state.clone()
        after.apply_action(state.legal_actions()[0])
        return after
    return with_player(state, player)


def with_player(state: State, player: int) -> State:
    """Returns the same board with this player to move; raises BadInput if the game has no such position."""
    if points_name(state.game) is None:
        raise BadInput("illegal move")
    return with_stones(state.game, stones_of(state), player)


def with_stones(game: Game, cells: Sequence[str], player: int) -> State:
    """Returns the position of these cells, [H * W] characters X, O or `.`; raises BadInput if it is none."""
    try:
        return game.state_from_text(board_to_text(cells, game.planes_shape[2], PLAYERS[player]))
    except BadInput:
        raise BadInput("illegal move") from None


def stones_of(state: State) -> list[str]:
    """Returns the cells of a position, [H * W] characters X, O or `.`, by rows from the top left; raises BadInput."""
    _, height, width = state.game.planes_shape
    return list(text_to_board(state.to_text(), height, width)[0])
