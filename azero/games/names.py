"""Names of games: `connect_four(rows=5)` as OpenSpiel writes them, and `my_game.py:MyGame` for a user's own game.

`openspiel:chess` is OpenSpiel's own game.
"""

import re
from pathlib import PureWindowsPath

import numpy as np

from azero.errors import BadInput
from azero.games.contract import Rules
from azero.games.registry import parameters_of, registered_games

SOURCE_IDENTITY = "source_identity"
"""The attribute of a class of rules from a user's file that holds the identity of its sources, 64 hex digits."""

SHORT_IDENTITY = 16
"""Hex digits of an identity in checkpoints and other files. Trust depends on all 64."""

OPENSPIEL = "openspiel:"
"""What the name of one of OpenSpiel's games begins with."""

_WITHOUT_ARGUMENTS = re.compile(rf"(?:(.*\.py)\s*:\s*)?((?:{OPENSPIEL})?\w+)")
_BEFORE_ARGUMENTS = re.compile(rf"{_WITHOUT_ARGUMENTS.pattern}\s*\(")

_EXAMPLES = {
    "game": "connect_four(rows=6)",
    "net": "my_net.py:MyNet(width=64)",
    "rule": "my_rule.py:MyRule(c=2)",
    "root": "my_root.py:MyRoot(c=2)",
    "search": "my.py:Mine(c=2)",
}


SIZES = {"size", "rows", "columns"}
"""The parameters that are the size of the board."""

KOMI = "komi"
"""The parameter that changes only who has won at the end."""


def file_of(text: str, what: str = "game") -> str | None:
    """Returns the file in a name; None if it names something of azero's. Raises BadInput if it is no name."""
    return parts_of(text, what)[0]


def without_folder(text: str) -> str:
    """Returns a game's name without the folder of its file. This part stays the same when the file is moved.

    The path may be from another operating system, so slashes and backslashes both separate folders.
    """
    file, py, rest = text.rpartition(".py:")
    return f"{PureWindowsPath(file).name}{py}{rest}"


def parts_of(text: str, what: str = "game") -> tuple[str | None, str, str | None]:
    """Returns file, class or game, and arguments of a name; None for a missing part. Raises BadInput.

    Args:
      what: "game", or "net", "rule" or "root": nets and searches of a user's have names of the same form.
    """
    name = text.strip()
    has_arguments = name.endswith(")")
    # No pattern takes the arguments: after each `.py:`, it would look through the rest of the text.
    match = _BEFORE_ARGUMENTS.match(name) if has_arguments else _WITHOUT_ARGUMENTS.fullmatch(name)
    if not match or not text.isprintable():
        example = f"{text}:My{what.capitalize()}" if text.endswith(".py") else _EXAMPLES[what]
        raise BadInput(f"{what} {text!r} is not of the form name or name(parameter=value,...), e.g. {example}")
    return match[1], match[2], name[match.end() : -1] if has_arguments else None


def name_of(rules: Rules) -> str:
    """Returns the name of these rules, with the parameters that differ from their defaults."""
    if full_name := getattr(rules, "full_name", ""):
        return full_name
    file_name = getattr(type(rules), "file_name", None)
    name = file_name or next(name for name, known in registered_games().items() if known is type(rules))
    defaults = parameters_of(type(rules))
    changed = [f"{key}={write_value(getattr(rules, key))}" for key in defaults if getattr(rules, key) != defaults[key]]
    return f"{name}({','.join(changed)})" if changed else name


def contrast(text: str, rules: Rules, is_any_size: bool = False) -> str:
    """Returns how the game named `text` differs from `rules`, for an error message.

    It gives both names, and the parameters that differ if both are the same game with other parameters, e.g.
    `go(size=7), not go(komi=9.0): size is 7, not 9; komi is 7.5, not 9.0`. With `is_any_size` the size does not count:
    `go(size=7) in any size, not go(komi=9.0): komi is 7.5, not 9.0`.
    """
    found = differences(text, rules) or {}
    counted = {key: values for key, values in found.items() if not (is_any_size and key in SIZES)}
    differing = "; ".join(f"{key} is {own}, not {sought}" for key, (own, sought) in counted.items())
    size = " in any size" if is_any_size and counted else ""
    return f"{text}{size}, not {name_of(rules)}: {differing}".removesuffix(": ")


def is_playable(text: str, rules: Rules, has_any_size: bool) -> bool:
    """Returns whether a net of the game named `text` plays that of `rules`, which may have another komi.

    Args:
      has_any_size: whether the net plays its game in all sizes.
    """
    found = differences(text, rules)
    return found is not None and found.keys() <= {KOMI, *(SIZES if has_any_size else ())}


def differences(text: str, rules: Rules) -> dict[str, tuple[str, str]] | None:
    """Returns own and sought value of each parameter in which the game named `text` differs from `rules`.

    Returns None if it is another game.
    """
    if text.startswith(OPENSPIEL):  # OpenSpiel's parameters are compared as texts
        return {} if text == name_of(rules) else None
    base, _, arguments = without_folder(text).partition("(")
    if base != without_folder(name_of(rules)).partition("(")[0]:
        return None
    own = {key: write_value(value) for key, value in parameters_of(type(rules)).items()}
    own |= dict(part.split("=", 1) for part in arguments.removesuffix(")").split(",") if "=" in part)
    sought = {key: write_value(getattr(rules, key)) for key in parameters_of(type(rules))}
    return {key: (own[key], value) for key, value in sought.items() if own[key] != value}


def write_value(value: object) -> str:
    """Returns the text of a parameter's value in a game's name."""
    if isinstance(value, float):
        return np.format_float_positional(value, trim="0")  # never with an exponent
    return str(value).lower() if isinstance(value, bool) else str(value)


def identity_of(rules: object) -> str:
    """Returns the identity of a user's code, of rules or a strategy, 64 hex digits; empty for azero's own."""
    return getattr(type(rules), SOURCE_IDENTITY, "")


def source_digest_of(rules: object) -> str:
    """Returns the beginning of the identity, for a file's card; empty for azero's own."""
    return identity_of(rules)[:SHORT_IDENTITY]


def is_made_with(rules: Rules, digest: str) -> bool:
    """Returns whether `digest`, from a file's card, is that of these rules."""
    return digest == source_digest_of(rules)
