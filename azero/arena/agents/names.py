"""How agents are named, the same in commands, configs and Python:

uct@1000                         plain UCT, with random rollouts
uct(c=2,by=value)@1000           the same with options, see `classical.py`
mc@1000  mmmc@1000               plain Monte Carlo; the same with minimax values
random                           uniformly random moves
alphabeta@1000                   alpha-beta, at most 1000 leaves per move
PATH@800  PATH@2s                a checkpoint or a run's folder (its best net), with simulations or seconds per move
PATH(rollout_weight=0.5)@800     the same with other settings of its search
PATH(selection=my.py:Rule)@800   the same with a selection rule of one's own; root=my.py:Root, a root strategy
PATH(resign=-0.95)@800           the same, but it resigns if the position's value for it is below this
PATH(precision=fp32)@800         the same with other settings of its net: device, runtime, precision
connect_four@800                 an included checkpoint
othello@800                      the included checkpoint of a game with the largest board
connect_four(level=3)            the agent at a level, 1 the weakest, or level=adaptive; see `levels/`
openspiel:mcts@1000              OpenSpiel's own UCT, with random rollouts
gtp:COMMAND  uci:COMMAND         another program, through GTP or UCI
gomocup:COMMAND                  the same through the protocol of Gomocup, in Gomoku
uci(nodes=10000):COMMAND         the same with options, see `engines/uci.py`
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from azero.arena.agents.clock import Limit
from azero.errors import BadInput, suggest_nearest
from azero.games.names import OPENSPIEL

CLASSICAL = ("uct", "mc", "mmmc", "alphabeta")
"""Agents that search without a net."""

DEVICE_SETTINGS = ("device", "runtime", "precision")
"""Options of a net that say where and how it runs."""

SEARCH_FILES = {"selection": "rule", "root": "root"}
"""Options of a net that may name a user's file, with what the file has."""

UNLESS_GIVEN = Limit(400, is_default=True)
"""The limit of each move of an agent whose name has none."""

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_NUMBER = r"-?\d{1,9}(\.\d{0,9})?"
_PROGRAM = re.compile(r"(gtp|uci|gomocup)(\([^()]*\))?:(.*)", re.DOTALL)


@dataclass(frozen=True)
class AgentName:
    """An agent's name, split into its parts by `parse_name`.

    Attributes:
      text: the whole name.
      kind: random, classical, net, openspiel or program.
      base: the name without its limit.
      word: the base without options: random, uct, gtp, or the path or name of a checkpoint.
      options: without the level.
      level: None if the name has none.
      limit: of each move.
      command: of a program.
    """

    text: str
    kind: str
    base: str
    word: str
    options: dict[str, str]
    level: str | None = None
    limit: Limit = UNLESS_GIVEN
    command: str = ""

    @property
    def device_settings(self) -> dict[str, str] | None:
        """The settings of a net's device, by setting; None for agents without a net."""
        if self.kind != "net":
            return None
        return {key: value for key, value in self.options.items() if key in DEVICE_SETTINGS}


def parse_name(text: str) -> AgentName:
    """Splits an agent's name; raises BadInput if it is written wrongly."""
    if program := split_program(text):
        word, options = split_options(program[0])
        return AgentName(text, "program", text, word, options, command=program[1])
    base, limit = _split_limit(text)
    word = base.partition("(")[0]
    kind = "random" if word == "random" else "classical" if word in CLASSICAL else "net"
    kind = "openspiel" if word.startswith(OPENSPIEL) else kind
    word, options = _split_net(base) if kind == "net" else split_options(base)
    return AgentName(text, kind, base, word, options, options.pop("level", None), limit)


def _split_limit(text: str) -> tuple[str, Limit]:
    """Splits `base@limit`. The limit is a number of simulations or, with an s, of seconds."""
    base, at, limit = text.rpartition("@")
    if not at:
        return text, UNLESS_GIVEN
    if not re.fullmatch(r"-?\d{1,15}|-?\d{1,15}(\.\d{0,15})?s", limit, re.ASCII):
        if has_folder(limit) or exists(Path(text)):
            return text, UNLESS_GIVEN
        raise BadInput(
            f"agent {text!r}: limit {limit!r} should be simulations or seconds, e.g. {base}@800 or {base}@2s"
        )
    try:
        return base, Limit(seconds=float(limit[:-1])) if limit.endswith("s") else Limit(int(limit))
    except BadInput as error:
        raise BadInput(f"agent {text!r}: {error}") from None


def _split_net(base: str) -> tuple[str, dict[str, str]]:
    """Splits `PATH(key=value,...)`. The path of an existing file may contain parentheses."""
    if exists(Path(base)):
        return base, {}
    begin = _begin_of_options(base)
    if begin > 0 and exists(Path(base[:begin])):
        return base[:begin], split_options(base[begin:])[1]
    return split_options(base)


def _begin_of_options(base: str) -> int:
    """Returns the place of the parenthesis that the last character closes; -1 if there is none."""
    depth = 0
    for place in range(len(base) - 1, -1, -1):
        depth += (base[place] == ")") - (base[place] == "(")
        if depth <= 0:
            return place if base.endswith(")") else -1
    return -1


def exists(path: Path) -> bool:
    """Returns whether a path exists; False if it cannot be one."""
    try:
        return path.exists()
    except (OSError, ValueError):  # not a valid file name
        return False


def has_folder(text: str) -> bool:
    """Returns whether a text names a folder and something in it."""
    return "/" in text or os.sep in text


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
    for part in filter(None, _split_at_commas(match[2])):
        key, sign, value = (each.strip() for each in part.partition("="))
        if not sign or not value or not part.isprintable():
            raise BadInput(f"agent {base!r}: {part.strip()!r} should be written key=value")
        if key in options:
            raise BadInput(f"agent {base!r} sets {key} twice")
        options[key] = value
    return match[1], options


def _split_at_commas(text: str) -> list[str]:
    """Splits at the commas that are in no parentheses: a value may have parameters of its own."""
    depth, begin, parts = 0, 0, []
    for place, each in enumerate(text):
        depth += (each == "(") - (each == ")")
        if each == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    return [*parts, text[begin:]]


def with_options(base: str, **options: object) -> str:
    """Returns an agent's name with more options. The name has no limit."""
    word, given = split_options(base)
    return join_options(word, {**given, **options})


def join_options(word: str, options: Mapping[str, object]) -> str:
    """Returns `word(key=value,...)`, or just the word without options."""
    return f"{word}({','.join(f'{key}={value}' for key, value in options.items())})" if options else word


class Options:
    """An agent's options. Each method takes one of them; `finish` raises BadInput if any are left.

    Args:
      base: the agent, in messages.
      given: the options by key; None: those in `base`.
    """

    def __init__(self, base: str, given: Mapping[str, str] | None = None):
        self.base = base
        self._left = split_options(base)[1] if given is None else dict(given)
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
