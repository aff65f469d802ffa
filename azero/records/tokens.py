"""Splits the text of records into tokens."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from azero.errors import BadInput

_SPACE = re.compile(r"\s*")
_TOKEN = re.compile(
    r"""
    \[\s*(?P<tag>\w{1,100}\s*"(?:[^"\\]+|\\.)*+")\s*\]
    | \{(?P<comment>(?:[^}\\]+|\\.)*+)\}
    | ;(?P<note>[^\n]*)
    | "(?P<quoted>(?:[^"\\]+|\\.)*+)"
    | (?P<bracket>[()])
    | \$(?P<glyph>\d{1,3})
    | (?P<word>[^\s{}()\[\]";$]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENED = {"{": "a comment", '"': "a quoted move", "[": "a tag"}


class Token(NamedTuple):
    """A part of a text that has a meaning of its own."""

    kind: str  # a group of `_TOKEN`, "end" after the last token
    text: str
    line: int


def split(text: str) -> Iterator[Token]:
    """Yields the tokens of a text; raises BadInput at what is none."""
    at, line = 0, 1
    while True:
        space = _SPACE.match(text, at)
        assert space is not None, "it may be empty"
        begin, line = space.end(), line + text.count("\n", at, space.end())
        if begin == len(text):
            break
        found = _TOKEN.match(text, begin)
        if found is None:
            opened = _OPENED.get(text[begin])
            what = f"{opened} is not complete; is the file cut short?" if opened else f"{text[begin]!r} has no meaning"
            raise BadInput(f"line {line}: {what}")
        kind = found.lastgroup or ""
        yield Token(kind, found[kind], line)
        at, line = found.end(), line + text.count("\n", begin, found.end())
    yield Token("end", "", line)


def unescaped(text: str) -> str:
    """Returns a text without the backslashes that protect other characters."""
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
