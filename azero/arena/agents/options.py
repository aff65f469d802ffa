"""Options in an agent's name, such as `uct(c=2,by=value)`. Unknown options are errors."""

import math
import re
from collections.abc import Mapping, Sequence

from azero.errors import BadInput, suggest_nearest

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_NUMBER = r"-?\d{1,9}(\.\d{0,9})?"
_PROGRAM = re.compile(r"(gtp|uci)(\([^()]*\))?:(.*)", re.DOTALL)


def split_program(name: str) -> tuple[str, str] | None:
    """Splits `gtp:COMMAND`, `uci(key=value,...):COMMAND` and the like into `uci(...)` and the command.

    Returns None for agents that are no other programs.
    """
    match = _PROGRAM.fullmatch(name)
    return (match[1] + (match[2] or ""), match[3]) if match else None


def split_options(base: str) -> tuple[str, dict[str, str]]:
    """Splits `word(key=value,...)` into the word and its options; raises BadInput for any other form."""
    match = re.fullmatch(r"([^()]*)\((.*)\)", base, re.DOTALL)
    if match is None and "(" not in base:
        return base, {}
    if match is None:
        raise BadInput(f"agent {base!r}: options should be written {base.partition('(')[0]}(key=value,...)")
    options: dict[str, str] = {}
    for part in filter(None, match[2].split(",")):
        key, sign, value = (each.strip() for each in part.partition("="))
        if not sign or not value or not part.isprintable():
            raise BadInput(f"agent {base!r}: {part.strip()!r} should be written key=value")
        if key in options:
            raise BadInput(f"agent {base!r} sets {key} twice")
        options[key] = value
    return match[1], options


def with_options(base: str, **options: object) -> str:
    """Returns an agent's name with more options. The name has no limit."""
    word, given = split_options(base)
    return join_options(word, {**given, **options})


def join_options(word: str, options: Mapping[str, object]) -> str:
    """Returns `word(key=value,...)`, or just the word without options."""
    return f"{word}({','.join(f'{key}={value}' for key, value in options.items())})" if options else word


class Options:
    """An agent's options. Each method takes one of them; `finish` raises BadInput if any are left."""

    def __init__(self, base: str):
        self.base = base
        self.word, self._left = split_options(base)
        self._known: list[str] = []

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """Returns a number from `low` to `high`."""
        text = self._take(key)
        if text is None:
            return default
        value = float(text) if re.fullmatch(_NUMBER, text) else math.nan
        if not low <= value <= high:
            raise self._wrong(key, text, f"a number from {low:g} to {high:g}")
        return value

    def whole(self, key: str, default: int, low: int, high: int) -> int:
        """Returns a whole number from `low` to `high`."""
        text = self._take(key)
        if text is None:
            return default
        if not re.fullmatch(r"-?\d{1,12}", text) or not low <= int(text) <= high:
            raise self._wrong(key, text, f"a whole number from {low:,} to {high:,}")
        return int(text)

    def choice(self, key: str, choices: Sequence[str]) -> str:
        """Returns one of the choices; by default the first."""
        text = self._take(key) or choices[0]
        if text not in choices:
            raise self._wrong(key, text, f"one of {', '.join(choices)}")
        return text

    def text(self, key: str) -> str | None:
        """Returns the option's text; None if it is not set."""
        return self._take(key)

    def rest(self) -> dict[str, str]:
        """Takes and returns all options that are left."""
        rest, self._left = self._left, {}
        return rest

    def memory(self, key: str, entry_bytes: int, low: int, high: int) -> int | None:
        """Returns a number of entries from `low` to `high`, given as a number or as memory, e.g. `64MiB`; or None."""
        text = self._take(key)
        if text is None:
            return None
        match = re.fullmatch(r"(-?\d{1,12})(KiB|MiB|GiB)?", text)
        entries = int(match[1]) * (_UNITS[match[2]] // entry_bytes if match[2] else 1) if match else -1
        if not low <= entries <= high:
            raise self._wrong(key, text, f"from {low:,} to {high:,} entries, or memory, e.g. 64MiB")
        return entries

    def resign_below(self) -> float | None:
        """Returns the value below which the agent resigns, the option `resign`; None: it does not."""
        value = self.number("resign", math.nan, -1.0, 1.0)
        return None if math.isnan(value) else value

    def finish(self) -> None:
        """Raises BadInput if an option was not taken. `resign` is an option of every agent, and its maker takes it."""
        self.resign_below()
        for key in self._left:
            raise BadInput(f"agent {self.base!r}: unknown option {key!r}; {suggest_nearest(key, self._known)}")

    def _take(self, key: str) -> str | None:
        self._known.append(key)
        return self._left.pop(key, None)

    def _wrong(self, key: str, text: str, right: str) -> BadInput:
        return BadInput(f"agent {self.base!r}: {key} = {text} should be {right}")
