"""How a game is played, for people: headings, paragraphs and pictures.

azero's own games have a file `rules.md` beside their rules. A user's game has the docstring of its class. Both are read
as a small part of Markdown. A picture is a block of code:

    ```position
    game: othello(size=6)
    moves: c2
    text: The white disc on c3 stood between two black ones.
    ```

`game` may be left out: then it is the game itself. `from` names the cell of a piece whose moves are shown.
"""

import inspect
import re
from collections import namedtuple
from pathlib import Path

from azero.games import Game
from azero.games.names import file_of
from azero.games.registry import parameters_of

Block = dict[str, str | list[str]]


def sheet_of(game: Game) -> list[Block]:
    """Returns the blocks of a game's rules: `kind` is heading, text, list, picture, or plain: lines as they are."""
    if file_of(game.name) is None:
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
