"""The games that a server offers, built-in games with other parameters, and how they are played."""

import functools
import inspect
import re
from collections import namedtuple
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from azero.errors import BadInput
from azero.games import Game
from azero.games.defaults import has_own
from azero.games.make import parse_game
from azero.games.names import OPENSPIEL, file_of
from azero.games.registry import parameters_of, registered_games
from azero.interfaces.web.errors import ApiError
from azero.records.sgf_games import number_of

Block = dict[str, str | list[str]]

_NAME = re.compile(r"([a-z][a-z_0-9]{0,30})(\([a-z_]{1,20}=[a-z0-9.-]{1,12}(,[a-z_]{1,20}=[a-z0-9.-]{1,12}){0,7}\))?")
"""The form of a built-in game's name in a request. It has no place for a file."""

_TITLES = {"tic_tac_toe": "Tic-tac-toe", "p_game": "P-game"}


@dataclass(frozen=True)
class OfferedGame:
    """A game by its id.

    Attributes:
      id: the name with its parameters for a built-in game; `own:NAME` for one of the user's, or of OpenSpiel's.
      game: the game itself.
    """

    id: str
    game: Game

    @property
    def is_own(self) -> bool:
        """Whether it is a game of the user's, or of OpenSpiel's."""
        return self.id.startswith("own:")

    @property
    def family(self) -> str:
        """The name without parameters."""
        return self.id.partition("(")[0]

    @property
    def title(self) -> str:
        """The name for people."""
        name = self.family.removeprefix("own:")
        return _TITLES.get(name) or (name if self.is_own else name.replace("_", " ").title())

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        rules = self.game.rules
        if self.game.name.startswith(OPENSPIEL):
            return {}  # they are part of the name
        return {key: getattr(rules, key) for key in parameters_of(type(rules)) if key != "unused"}

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The least and the greatest value of each parameter that a request may set; none for a game of the user's."""
        return {} if self.is_own else self.game.rules.ranges()

    @property
    def subtitle(self) -> str:
        """Size and further parameters in a line. Rules that are off or at their default only if the id names them."""
        left = dict(self.parameters)
        size = left.pop("size", None)
        rows, columns = left.pop("rows", size), left.pop("columns", size)
        parts = [f"{columns} × {rows}"] if rows and columns else []
        named = {key: value for key, value in left.items() if f"{key}=" in self.id or (value and value is not True)}
        return ", ".join([*parts, *(_in_words(key.replace("_", " "), value) for key, value in named.items())])

    @property
    def rules_text(self) -> str:
        """One line or two about how it is played: the first paragraph of what the rules say of themselves."""
        return " ".join(docstring_of(self.game).split("\n\n")[0].split())

    @property
    def has_ownership(self) -> bool:
        """Whether the rules tell who owns the cells at the end."""
        return has_own(self.game.rules, "ownership")

    @property
    def has_sgf(self) -> bool:
        """Whether SGF can have its records."""
        try:
            number_of(self.game)
        except BadInput:
            return False
        return True

    @property
    def has_score(self) -> bool:
        """Whether the rules tell by how much a game is won."""
        return has_own(self.game.rules, "final_score")


def _in_words(name: str, value: object) -> str:
    """Returns a parameter in words: "komi 7.5", "swap", "no swap"."""
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"


def offered_game(game: Game) -> OfferedGame:
    """Returns a game under the id by which it is offered."""
    name = game.name
    is_built_in = file_of(name) is None and not name.startswith(OPENSPIEL)
    return OfferedGame(name if is_built_in else f"own:{name.rpartition('.py:')[2]}", game)


@functools.lru_cache(maxsize=256)
def built_in_game(name: str) -> OfferedGame:
    """Returns a built-in game with any parameters within their ranges; raises ApiError.

    The name is a request's text. So its form is strict, and only names of the registry are looked up.
    """
    match = _NAME.fullmatch(name)
    if not match or match[1] not in registered_games():
        raise ApiError(404, "unknown_game", "there is no such game; GET /api/v1/games lists them", value=name)
    try:
        return offered_game(Game(parse_game(name)))
    except BadInput as error:
        raise ApiError(422, "bad_game", str(error), value=name) from None


def sheet_of(game: Game) -> list[Block]:
    """Returns how a game is played, for people. A block's `kind` is heading, text, list, picture, or plain (as it is).

    azero's own games have a file `rules.md` beside their rules. A user's game has the docstring of its class. Both are
    read as a small part of Markdown. A picture is a block of code:

        ```position
        game: othello(size=6)
        moves: c2
        text: The white disc on c3 stood between two black ones.
        ```

    `game` may be left out: then it is the game itself. `from` names the cell of a piece whose moves are shown.
    """
    if file_of(game.name) is None and not game.name.startswith(OPENSPIEL):
        return read_sheet(Path(inspect.getfile(type(game.rules))).with_name("rules.md").read_text(encoding="utf-8"))
    return read_sheet(docstring_of(game))


def docstring_of(game: Game) -> str:
    """Returns what the class of rules says of itself; empty if it has only the docstring that Python makes."""
    kind = type(game.rules)
    text = inspect.cleandoc(kind.__doc__ or "")
    made_by_python = namedtuple("_", parameters_of(kind)).__doc__ or ""  # "_(heap,)"
    return "" if re.fullmatch(r"\w+" + re.escape(made_by_python.removeprefix("_")), text) else text


def read_sheet(text: str) -> list[Block]:
    """Returns the blocks of a text. Its title, a heading with one #, is left out. Nothing is an error."""
    return [_block(part) for part in re.split(r"\n(?:[ \t]*\n)+", text.strip()) if part and not part.startswith("# ")]


def _block(part: str) -> Block:
    """Returns a paragraph: text between two empty lines."""
    lines = part.splitlines()
    if lines[0] == "```position" and lines[-1] == "```":
        fields = {name: value.strip() for name, _, value in (line.partition(":") for line in lines[1:-1])}
        return {"kind": "picture", **{name: fields.get(name, "") for name in ("game", "moves", "from", "text")}}
    if lines[0].startswith("## "):
        return {"kind": "heading", "text": part.removeprefix("## ")}
    if lines[0].startswith("- "):
        items = re.split(r"\n- ", part.removeprefix("- "))
        return {"kind": "list", "items": [" ".join(item.split()) for item in items]}
    if any(line[:1].isspace() for line in lines):
        return {"kind": "plain", "text": part}
    return {"kind": "text", "text": " ".join(part.split())}
