"""azero's games as variants of Fairy-Stockfish: their rules for its `variants.ini`, positions as FEN, and moves.

A move is a whole turn: in Amazons, three actions. Columns are letters and rows are numbers, as in azero's notation; the
forms of the moves differ.

azero defines a variant for the size of each game, so that board and rules are azero's own. In all of them White is the
first player. The rules of Fairy-Stockfish's parent variants are changed where azero's differ.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from azero.errors import BadInput
from azero.games import Game, State
from azero.games.boards import LETTERS
from azero.games.make import make_trusted_game
from azero.games.names import parts_of
from azero.games.position_text import PLAYERS

_CELL = "[a-z][0-9]{1,2}"


class Notation(ABC):
    """How the moves of a game are written."""

    def write(self, state: State, turns: list[list[int]]) -> list[str]:
        """Returns the engine's texts of turns, whose actions are legal from `state` on."""
        return [self._join(state, texts) for texts in state.game.lines_to_text(state, turns)]

    def read(self, state: State, text: str) -> list[int]:
        """Returns the actions of the turn that an engine's text names; raises BadInput if `state` has no such turn."""
        texts = self._split(state, text)
        if not texts:
            raise BadInput(f"{text!r} is not a move of {state.game} here")
        actions: list[int] = []
        reached = state.clone()
        for each in texts:
            actions.append(state.game.text_to_action(reached, each))
            reached.apply_action(actions[-1])
        return actions

    def turn_of(self, state: State) -> tuple[State, list[int]]:
        """Returns the position in which the turn began, and the actions made since; raises BadInput if unknown."""
        return state, []

    @abstractmethod
    def _join(self, state: State, texts: list[str]) -> str:
        """Returns the engine's text of a turn, given one text in azero's notation per action."""

    @abstractmethod
    def _split(self, state: State, text: str) -> list[str]:
        """Returns the texts of a turn's actions in azero's notation; none if it is not the text of a move."""


class Steps(Notation):
    """A piece steps from one cell to another: `a2a3`."""

    def _join(self, state: State, texts: list[str]) -> str:
        return re.sub("[-x]", "", texts[0])

    def _split(self, state: State, text: str) -> list[str]:
        return [text] if re.fullmatch(_CELL + _CELL, text) else []


class StepsWithArrows(Notation):
    """A piece steps and shoots an arrow: `d1d7,d7g7`. Its new cell is written twice."""

    def turn_of(self, state: State) -> tuple[State, list[int]]:
        num_made = int(state.record["phase"])
        if num_made == 0:
            return state, []
        if not state.is_replayable():
            raise BadInput("an engine chooses whole turns; give the moves before this one as 'moves: ...'")
        begin = state.game.new_initial_state()
        for action in state.history()[:-num_made]:
            begin.apply_action(action)
        return begin, state.history()[-num_made:]

    def _join(self, state: State, texts: list[str]) -> str:
        start, end, shot = (text.strip("-/") for text in texts)
        return f"{start}{end},{end}{shot}"

    def _split(self, state: State, text: str) -> list[str]:
        match = re.fullmatch(rf"({_CELL})({_CELL}),\2({_CELL})", text)
        return [match[1], f"-{match[2]}", f"/{match[3]}"] if match else []


class Drops(Notation):
    """A piece is put on the board: `P@d3`, for both players. A pass is a step of a piece to its own cell: `d4d4`."""

    def _join(self, state: State, texts: list[str]) -> str:
        return "0000" if texts[0] == "pass" else f"P@{texts[0]}"

    def _split(self, state: State, text: str) -> list[str]:
        if text == "0000" or re.fullmatch(rf"({_CELL})\1", text):
            return ["pass"]
        return [text[2:]] if re.fullmatch(f"P@{_CELL}", text) else []


class FallingDrops(Notation):
    """A piece falls to the lowest empty cell of a column: `P@d3`. azero writes the column's number, `4`."""

    def _join(self, state: State, texts: list[str]) -> str:
        column = int(texts[0]) - 1
        board = state.to_text().split()[0]
        rows = [re.sub("[0-9]", lambda run: "." * int(run[0]), row) for row in board.split("/")]
        row = sum(each[column] != "." for each in rows) + 1
        return f"P@{chr(ord('a') + column)}{row}"

    def _split(self, state: State, text: str) -> list[str]:
        texts = [state.game.action_to_text(state, action) for action in state.legal_actions()]
        return [each for each in texts if self._join(state, [each]) == text]


def turns_beginning(state: State, actions: list[int]) -> list[list[int]]:
    """Returns all turns of `state` that begin with these legal actions."""
    reached = state.clone()
    for action in actions:
        reached.apply_action(action)
    if actions and reached.current_player() != state.current_player():  # or the game is over
        return [actions]
    return [turn for action in reached.legal_actions() for turn in turns_beginning(state, [*actions, action])]


_COMMON = {"nMoveRule": "0", "nFoldRule": "0"}
_PUT = {"pieceDrops": "true", "doubleStep": "false", "castling": "false", "immobilityIllegal": "false"}


class _Kind(NamedTuple):
    """How a game becomes a variant.

    Attributes:
      parent: the variant of Fairy-Stockfish whose rules are changed; "" if none has similar rules.
      changes: returns the changes of the rules, by option of `variants.ini`.
      known: the names of variants that engines know, by (rows, columns).
      is_top_first: whether azero's row 1 is the top row; in FEN it is the bottom row.
      piece: the letter of the pieces.
      begins_exchanged: whether the variants that engines know begin with the colours of azero's pieces exchanged.
    """

    parent: str
    notation: Notation
    changes: Callable[[Any], dict[str, str]]
    known: dict[tuple[int, int], str]
    is_top_first: bool = False
    piece: str = "P"
    begins_exchanged: bool = False


def _in_a_row(k: int) -> dict[str, str]:
    return {**_PUT, "immobile": "p", "stalemateValue": "draw", "connectN": str(k)}


def _last_rows(rules: Any) -> dict[str, str]:
    """Fairy-Stockfish 11.1 knows no `flagRegionWhite`. Newer versions know both names."""
    return {"whiteFlag": f"*{rules.rows}", "blackFlag": "*1"}


def _centre(rules: Any) -> dict[str, str]:
    low, high = rules.size // 2, rules.size // 2 + 1
    cells = [f"{LETTERS[column - 1]}{row}" for row in (low, high) for column in (low, high)]
    return {"enclosingDropStart": " ".join(cells)}


def _gravity(rules: Any) -> dict[str, str]:
    """Only engines that know the parent, Othello, can know `enclosingDrop = top`."""
    off = ("passOnStalemate", "adjudicateFullBoard", "stalematePieceCount")
    none = ("flipEnclosedPieces", "materialCounting")
    switched_off = dict.fromkeys(off, "false") | dict.fromkeys(none, "none")
    own = {"enclosingDrop": "top", "enclosingDropStart": "-", "stalemateValue": "draw", "connectN": "4"}
    return {**switched_off, **own}


_OTHELLO = {(6, 6): "flipello6", (8, 8): "flipello", (10, 10): "flipello10"}
_KINDS = {
    "amazons": _Kind("amazons", StepsWithArrows(), lambda rules: {}, {(10, 10): "amazons"}, piece="Q"),
    "breakthrough": _Kind("breakthrough", Steps(), _last_rows, {(8, 8): "breakthrough"}),
    "clobber": _Kind(
        "clobber", Steps(), lambda rules: {}, {(6, 5): "clobber", (10, 10): "clobber10"}, begins_exchanged=True
    ),
    "connect_four": _Kind("flipello", FallingDrops(), _gravity, {(6, 7): "cfour"}),
    "gomoku": _Kind("", Drops(), lambda rules: _in_a_row(rules.k), {}),
    "othello": _Kind("flipello", Drops(), _centre, _OTHELLO, is_top_first=True, begins_exchanged=True),
    "tic_tac_toe": _Kind("", Drops(), lambda rules: _in_a_row(3), {(3, 3): "tictactoe"}, is_top_first=True),
}


class Variant:
    """A game as a variant.

    Attributes:
      name: the name of the variant that `ini` defines.
      parent: the variant of Fairy-Stockfish that it changes; "" if it changes none.
      known: the name of the same variant in engines that read no `variants.ini`; None if there is none.
      files, ranks: the numbers of columns and rows.
      notation: how moves are written.
    """

    def __init__(self, game: Game):
        """Raises BadInput for a game that has no variant."""
        file, name, _ = parts_of(str(game))
        if file is not None or name not in _KINDS:
            raise BadInput(f"{game} is no variant of Fairy-Stockfish; these games are: {', '.join(_KINDS)}")
        if getattr(game.rules, "exact", False):
            raise BadInput(f"{game} is no variant of Fairy-Stockfish: there, longer rows win, too; leave out exact")
        self._game, self._kind = game, _KINDS[name]
        self.ranks, self.files = game.planes_shape[1:]
        self.name, self.parent = f"azero_{name}", self._kind.parent
        self.known = self._kind.known.get((self.ranks, self.files))
        self.notation = self._kind.notation

    def ini(self) -> str:
        """Returns the definition of the variant."""
        sizes = {"maxRank": self.ranks, "maxFile": self.files}
        start = {"startFen": self.fen(self._game.new_initial_state())}
        lines = {**sizes, **start, **_COMMON, **self._kind.changes(self._game.rules)}
        parent = f":{self.parent}" if self.parent else ""
        return f"[{self.name}{parent}]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items())

    def fen(self, state: State) -> str:
        """Returns a position, in which a turn begins, as FEN. Each player has a piece in hand for each empty cell."""
        piece, rows = self._kind.piece, state.to_text().split()[0].split("/")
        board = "/".join(rows[::-1] if self._kind.is_top_first else rows)
        board = board.translate(str.maketrans("XO#", f"{piece}{piece.lower()}*"))
        hand = ""
        if isinstance(self.notation, Drops | FallingDrops):
            empty = self.files * self.ranks - sum(map(str.isalpha, board))
            hand = f"[{piece * empty}{piece.lower() * empty}]"
        return f"{board}{hand} {'wb'[state.current_player()]} - - 0 1"

    def start(self) -> State:
        """Returns the position with which engines begin that have the variant by its known name, or by `ini`."""
        initial = self._game.new_initial_state()
        if self.known is None or not self._kind.begins_exchanged:
            return initial
        board, _, rest = self.fen(initial).partition(" ")
        return self.state(f"{board.swapcase()} {rest}")

    def state(self, fen: str) -> State:
        """Returns the position of a FEN; raises BadInput if it is none. Pieces in hand follow from the board."""
        parts, piece = fen.split(), self._kind.piece
        if len(parts) < 2 or parts[1] not in ("w", "b"):
            raise BadInput(f"{fen[:200]!r} is no FEN; it has a board and the player to move, w or b")
        rows = re.sub(r"\[.*", "", parts[0]).translate(str.maketrans(f"{piece}{piece.lower()}*", "XO#")).split("/")
        board = "/".join(rows[::-1] if self._kind.is_top_first else rows)
        return self._game.state_from_text(f"{board} {PLAYERS[parts[1] == 'b']}")


def known_variants() -> dict[str, str]:
    """Returns azero's games that engines know as variants, by the variant's name."""
    return {
        variant: make_trusted_game(_sized(name, *size)).name
        for name, kind in _KINDS.items()
        for size, variant in kind.known.items()
    }


def _sized(name: str, rows: int, columns: int) -> str:
    if name == "tic_tac_toe":
        return name
    return f"{name}(size={rows})" if name == "othello" else f"{name}(rows={rows},columns={columns})"
