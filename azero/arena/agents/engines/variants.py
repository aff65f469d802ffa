"""azero's games as variants of Fairy-Stockfish: their rules for its `variants.ini`, positions as FEN, and moves.

azero defines a variant for the size of each game, so that board and rules are azero's own. In all of them White is the
first player. The rules of Fairy-Stockfish's parent variants are changed where azero's differ.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from azero.arena.agents.engines.notation import Drops, FallingDrops, Notation, Steps, StepsWithArrows
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.boards import LETTERS
from azero.games.names import parts_of

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
    """

    parent: str
    notation: Notation
    changes: Callable[[Any], dict[str, str]]
    known: dict[tuple[int, int], str]
    is_top_first: bool = False
    piece: str = "P"


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
    "clobber": _Kind("clobber", Steps(), lambda rules: {}, {(6, 5): "clobber", (10, 10): "clobber10"}),
    "connect_four": _Kind("flipello", FallingDrops(), _gravity, {(6, 7): "cfour"}),
    "gomoku": _Kind("", Drops(), lambda rules: _in_a_row(rules.k), {}),
    "othello": _Kind("flipello", Drops(), _centre, _OTHELLO, is_top_first=True),
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
