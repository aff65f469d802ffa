"""What SGF knows of games: their numbers, their sizes, and how a move is written.

Source: Hollosi, SGF file format FF[4], red-bean.com/sgf: the pages on properties, Go, Othello, Hex and Amazons.
"""

import functools
import re
from collections.abc import Sequence

from azero.errors import BadInput
from azero.games import Game, State
from azero.games.boards import LETTERS
from azero.games.go.rules import Go
from azero.games.make import make_trusted_game
from azero.games.names import file_of, parts_of
from azero.games.position_text import PLAYERS, board_to_text, text_to_board
from azero.system.console import warn_once

COLOURS = "BW"
"""The first and the second player."""

_NUMBERS = {"go": 1, "othello": 2, "gomoku": 4, "hex": 11, "amazons": 18}
_SIZES = {"go": 19, "othello": 8, "gomoku": 15, "hex": 11, "amazons": 10}
"""Sizes of games without SZ. In Go, that is what the format says, in the others what is played most."""

SWAP = "swap-pieces"
"""The swap of Hex, as a move."""


def number_of(game: Game) -> int:
    """Returns the game's number in SGF; raises BadInput if it has none."""
    name = _base(game)
    if file_of(game.name) or name not in _NUMBERS:
        raise BadInput(f"SGF does not know {game}, only {', '.join(_NUMBERS)}; use another ending than .sgf")
    return _NUMBERS[name]


def size_to_text(game: Game) -> str:
    """Returns the value of SZ, columns first if they differ from the rows."""
    _, height, width = game.planes_shape
    return str(height) if height == width else f"{width}:{height}"


def game_of(
    number: str, size: str, komi: str, has_swap: bool, full_name: str, game: Game | None, keeps_komi: bool
) -> Game:
    """Returns the game that the properties GM, SZ and KM tell; raises BadInput if it is unknown or not `game`.

    Args:
      has_swap: whether the second player's first move is the swap of Hex.
      full_name: azero's name of the game, where azero wrote the record; otherwise empty.
      game: the game that the record must have, up to what SGF cannot tell; None: any.
      keeps_komi: whether the record's own komi holds if `game` has another one. If not, a notice names both.
    """
    names = {str(each): name for name, each in _NUMBERS.items()}
    if (number or "1") not in names:
        known = ", ".join(f"{each} {name}" for each, name in names.items())
        raise BadInput(f"GM[{number[:20]}] is a game that azero does not know; it knows {known}")
    name = names[number or "1"]
    columns, rows = _read_size(size, name)
    if full_name and game is None:
        if file_of(full_name):
            raise BadInput(f"the record is of a user's game, {full_name}, which SGF cannot have")
        game = _game_named(full_name)
    if game is None:
        return _game_named(f"{name}({_parameters(name, rows, columns, komi, has_swap)})")
    if _base(game) != name or game.planes_shape[1:] != (rows, columns):
        raise BadInput(f"the record is of {name} on {columns}x{rows}, not of {game}")
    if isinstance(game.rules, Go) and komi.strip() and _read_komi(komi) != game.rules.komi:
        if keeps_komi:
            own = _game_named(f"go({_parameters(name, rows, columns, komi, has_swap)})")
            return Game(game.rules._replace(komi=own.rules.komi))
        warn_once(f"a record has komi {_read_komi(komi):g}; it is read as of {game}, with komi {game.rules.komi:g}")
    return game


@functools.lru_cache(maxsize=64)
def _game_named(name: str) -> Game:
    """Returns a game of azero's by its name; raises BadInput. The games of a file have few names."""
    return make_trusted_game(name)


@functools.lru_cache(maxsize=64)
def start_of(game: Game) -> State:
    """Returns the initial position, which the records of a game share."""
    return game.new_initial_state()


def _base(game: Game) -> str:
    return parts_of(game.name)[1]


def _read_size(text: str, name: str) -> tuple[int, int]:
    """Returns columns and rows."""
    found = re.fullmatch(r"(\d{1,2})(?:\s*:\s*(\d{1,2}))?", text.strip() or str(_SIZES[name]))
    if found is None:
        raise BadInput(f"SZ[{text[:20]}] should be a size, e.g. SZ[9]")
    return int(found[1]), int(found[2] or found[1])


def _parameters(name: str, rows: int, columns: int, komi: str, has_swap: bool) -> str:
    if name in ("gomoku", "amazons"):
        return f"rows={rows},columns={columns}"
    if rows != columns:
        raise BadInput(f"{name} has a square board, not {columns}x{rows}")
    if name == "hex" and has_swap:
        return f"size={rows},swap=true"
    if name != "go" or not komi.strip():
        return f"size={rows}"
    return f"size={rows},komi={_read_komi(komi):g}"


def _read_komi(text: str) -> float:
    komi = text.strip().replace(",", ".")
    if not re.fullmatch(r"[+-]?\d{1,3}(\.\d{0,12})?", komi):
        raise BadInput(f"KM[{komi[:20]}] should be a number of points, e.g. KM[7.5]")
    return float(komi)


def move_to_text(state: State, actions: Sequence[int]) -> str:
    """Returns the value of B or W for a move: one action, or the three of a move in Amazons."""
    game = state.game
    _, height, width = game.planes_shape
    if _base(game) == "amazons" and len(actions) != 3:
        raise BadInput("SGF has whole turns only, but the record begins within one")
    if actions[0] == height * width and len(actions) == 1:
        return SWAP if _base(game) == "hex" else ""  # an empty value is a pass
    return "".join(_point(game, action % (height * width)) for action in actions)


def text_to_move(game: Game, text: str) -> list[int]:
    """Returns the actions of a value of B or W, legal or not; raises BadInput if it is no move of this game."""
    name, (_, height, width) = _base(game), game.planes_shape
    text = text.strip().lower()
    if name in ("go", "othello") and (text == "" or (text == "tt" and height <= 19)):
        return [height * width]
    if name == "hex" and text == SWAP:
        return [height * width]
    points = 3 if name == "amazons" else 1
    if name == "hex" and re.fullmatch(r"[a-z]\d{1,2}", text):
        cells = [(int(text[1:]) - 1, LETTERS.index(text[0]))]
    elif re.fullmatch(f"[a-z]{{{2 * points}}}", text):
        cells = [(LETTERS.index(text[k + 1]), LETTERS.index(text[k])) for k in range(0, 2 * points, 2)]
    else:
        raise BadInput(f"{text[:20]!r} is not a move of {name} in SGF")
    if any(not (0 <= row < height and column < width) for row, column in cells):
        raise BadInput(f"{text!r} is not on the board of {width}x{height}")
    return [(phase * height + row) * width + column for phase, (row, column) in enumerate(cells)]


def stones_to_start(game: Game, stones: Sequence[Sequence[str]], player: int) -> State:
    """Returns the position with these stones; raises BadInput if there is none.

    Args:
      stones: for both players, the values of AB and AW.
    """
    _, height, width = game.planes_shape
    cells = ["."] * (height * width)
    for stone, own in zip(PLAYERS, stones, strict=True):
        for cell in (cell for text in own for cell in _points(game, text)):
            if cells[cell] not in (".", stone):
                raise BadInput(f"AB and AW both put a stone on {_point(game, cell)}")
            cells[cell] = stone
    return game.state_from_text(board_to_text(cells, width, PLAYERS[player]))


def _points(game: Game, text: str) -> list[int]:
    """Returns the cells of a point, or of a rectangle `aa:cc`."""
    _, height, width = game.planes_shape
    corners = [text_to_move(game, each)[0] for each in text.split(":", 1)]
    if max(corners) >= height * width:
        raise BadInput(f"{text[:20]!r} is no point of the board")
    (top, left), (bottom, right) = (divmod(corner, width) for corner in (corners[0], corners[-1]))
    return [row * width + column for row in range(top, bottom + 1) for column in range(left, right + 1)]


def start_to_stones(start: State) -> list[list[str]]:
    """Returns the stones of a position, for both players: the values of AB and AW. For programs that show records."""
    _, height, width = start.game.planes_shape
    cells, _ = text_to_board(start.to_text(), height, width, f"{PLAYERS}#")
    return [[_point(start.game, cell) for cell, found in enumerate(cells) if found == stone] for stone in PLAYERS]


def _point(game: Game, cell: int) -> str:
    row, column = divmod(cell, game.planes_shape[2])
    return f"{LETTERS[column]}{row + 1}" if _base(game) == "hex" else LETTERS[column] + LETTERS[row]
