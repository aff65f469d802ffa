"""Positions as controllers set them up: moves out of turn, stones on a board, boards of other sizes."""

import contextlib
import json
from collections.abc import Sequence
from typing import Any

from azero.errors import BadInput
from azero.games import Game, State
from azero.games.boards import GO_LETTERS, LETTERS
from azero.games.go.rules import Go
from azero.games.names import parts_of
from azero.games.position_text import PLAYERS, board_to_text, put_stones, text_to_board
from azero.games.state import is_forced_pass
from azero.system.console import printable

SWAP = "swap-pieces"
"""The swap of Hex, as HexGui writes it."""

POINT_GAMES = {"go": "Go", "othello": "Othello", "gomoku": "Gomoku", "hex": "Hex", "tic_tac_toe": "Tictactoe"}
"""The games whose moves are points, by their names for GoGui."""

_AREA = {
    *("tromptaylor", "chinese", "chineseogs", "chinesekgs", "aga", "bga", "french", "newzealand", "nz"),
    *("goe", "ing"),
}
"""Rules of KataGo's that count area, without the marks between their words."""

_NO_MARKS = str.maketrans("", "", "-_ ")
_OTHER_COLOURS = str.maketrans(PLAYERS, PLAYERS[::-1])


def points_name(game: Game) -> str | None:
    """Returns GoGui's name of a game whose moves are points or passes; None for other games."""
    file, name, _ = parts_of(game.name)
    return None if file else POINT_GAMES.get(name)


def rules_of(game: Game) -> dict[str, Any]:
    """Returns the rules of a game of Go as KataGo writes them; raises BadInput for other games."""
    if not isinstance(game.rules, Go):
        raise BadInput(f"{game} is not Go")
    ko, suicide = "POSITIONAL" if game.rules.superko else "SIMPLE", bool(game.rules.suicide)
    others = {"tax": "NONE", "whiteHandicapBonus": "0", "hasButton": False, "friendlyPassOk": False}
    return {"ko": ko, "scoring": "AREA", "suicide": suicide, **others}


def complaint_of_rules(rules: object) -> str:
    """Returns why azero does not play these rules of KataGo's, a name or an object; empty if it does, or nearly so."""
    name = str(rules)
    if name.startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            rules = json.loads(name) if isinstance(rules, str) else rules
    if isinstance(rules, dict):
        is_ours = rules.get("scoring", "AREA") == "AREA" and rules.get("tax", "NONE") == "NONE"
        is_ours = is_ours and not rules.get("hasButton")
    else:
        is_ours = name.lower().translate(_NO_MARKS) in _AREA
    shown = printable(name[:100])
    return "" if is_ours else f"{shown} rules are not played here; azero plays by area scoring"


class Vertices:
    """How moves are written: points in capitals, other moves in the game's notation.

    Go's columns have no I. In other games they do, as in azero's notation, unless `skips_i`: GoGui never has one. With
    `is_exchanged` they are mirrored in the long diagonal, see `has_swapped`.
    """

    skips_i = False
    is_exchanged = False

    def __init__(self, game: Game):
        self._game, self._is_go = game, points_name(game) == "Go"

    def write(self, text: str) -> str:
        """Returns the vertex of a move in the game's notation."""
        if text == "swap":
            return SWAP
        if not _is_point(text):
            return text
        text = _mirrored(text) if self.is_exchanged else text
        if self.skips_i and not self._is_go:
            text = GO_LETTERS[LETTERS.index(text[0])] + text[1:]
        return text.upper()

    def read(self, text: str) -> str:
        """Returns the move in the game's notation that a vertex names."""
        low = text.lower()
        if low == SWAP:
            return "swap"
        if _is_point(low) and self.skips_i and not self._is_go and low[0] in GO_LETTERS:
            low = LETTERS[GO_LETTERS.index(low[0])] + low[1:]
        if _is_point(low):
            return _mirrored(low) if self.is_exchanged else low
        return low if low in ("pass", "swap") else text


def _is_point(text: str) -> bool:
    return len(text) in (2, 3) and text[0] in LETTERS and text[1:].isdecimal() and text.isascii()


def _mirrored(point: str) -> str:
    """Returns the mirror image of a point in the long diagonal of a square board; one far outside stays."""
    number = int(point[1:])
    return f"{LETTERS[number - 1]}{LETTERS.index(point[0]) + 1}" if 1 <= number <= len(LETTERS) else point


def player_of(state: State) -> int:
    """Returns the player to move. Go goes on after its end, and at the end of other games it is the first player."""
    if state.is_terminal() and points_name(state.game) == "Go":
        return int(state.record["ply"]) & 1
    return max(0, state.current_player())


def has_swapped(state: State) -> bool:
    """Returns whether a game of Hex began with a swap.

    azero then mirrors the first stone, which becomes the second player's, and the first player goes on. HexGui leaves
    it, and the second player's colour goes on: the players exchange their colours. By Hex's symmetry these are the same
    game, mirrored and with colours exchanged.
    """
    return points_name(state.game) == "Hex" and state.history()[1:2] == [state.game.planes_shape[1] ** 2]


def exchanged(state: State) -> State:
    """Returns a game of Hex after a swap as the same game with exchanged colours, mirrored in the long diagonal."""
    size, cells = state.game.planes_shape[1], stones_of(state)
    mirrored = "".join(cells[column * size + row] for row in range(size) for column in range(size))
    return with_stones(state.game, mirrored.translate(_OTHER_COLOURS), 1 - (int(state.record["ply"]) & 1))


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
        state = with_player(state, player_of(state))
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
    """Returns the position of these cells, [H * W] characters X, O or `.`; raises BadInput if it is none.

    HexGui sets up a board stone by stone, those of one player too. So in Hex any number of stones is a position.
    """
    try:
        return game.state_from_text(board_to_text(cells, game.planes_shape[2], PLAYERS[player]))
    except BadInput:
        if points_name(game) != "Hex":
            raise BadInput("illegal move") from None
    record = game.new_initial_state().record
    has_joined = put_stones(game.rules, record, "".join(cells))
    if has_joined[player]:
        raise BadInput("illegal move")
    record.ply, record.is_won = 2 + player, has_joined[1 - player]  # at ply 1 the second player may swap
    return State.from_record(game, record)


def stones_of(state: State) -> list[str]:
    """Returns the cells of a position, [H * W] characters X, O or `.`, by rows from the top left; raises BadInput."""
    _, height, width = state.game.planes_shape
    return list(text_to_board(state.to_text(), height, width)[0])


def chains_of(state: State) -> list[list[str]]:
    """Returns the chains of stones on a board, each as points in the game's notation."""
    cells, (_, height, width) = stones_of(state), state.game.planes_shape
    left, chains = {cell for cell, stone in enumerate(cells) if stone in "XO"}, list[list[str]]()
    while left:
        chain, begun = list[int](), [left.pop()]
        while begun:
            cell = begun.pop()
            chain.append(cell)
            row, column = divmod(cell, width)
            for y, x in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                near = y * width + x
                if 0 <= y < height and 0 <= x < width and near in left and cells[near] == cells[cell]:
                    left.remove(near)
                    begun.append(near)
        chains.append([f"{GO_LETTERS[cell % width]}{height - cell // width}" for cell in sorted(chain)])
    return chains
