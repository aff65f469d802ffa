"""Names of games, as OpenSpiel writes them, `connect_four(rows=5)`; a user's, `my_game.py:MyGame`, names its file."""

import re
from pathlib import PureWindowsPath

import numpy as np

from azero.compiler.jit import SOURCE_DIGEST
from azero.errors import BadInput
from azero.games.contract import Rules
from azero.games.registry import parameters_of, registered_games


def file_of(text: str) -> str | None:
    """Returns the file that a game's name has, or None where it is one of azero's; raises BadInput where it is none."""
    return parts_of(text)[0]


def without_folder(text: str) -> str:
    """Returns a game's name, of a user's file the last part of its path only: what a game keeps when it is moved.

    It may have been moved to another system: every system's separators count.
    """
    file, py, rest = text.rpartition(".py:")
    return f"{PureWindowsPath(file).name}{py}{rest}"


def parts_of(text: str) -> tuple[str | None, str, str | None]:
    """Returns file, name and arguments of a game's name; raises BadInput."""
    match = re.fullmatch(r"\s*(?:(.*\.py)\s*:\s*)?(\w+)\s*(?:\((.*)\))?\s*", text)
    if not match:
        example = f"{text}:MyGame" if text.endswith(".py") else "connect_four(rows=6)"
        raise BadInput(f"game {text!r} is not of the form name or name(parameter=value,...), e.g. {example}")
    file, name, arguments = match.groups()
    return file, name, arguments


def name_of(rules: Rules) -> str:
    """Returns the text that names these rules, with the parameters that differ from their defaults."""
    file_name = getattr(type(rules), "file_name", None)
    name = file_name or next(name for name, known in registered_games().items() if known is type(rules))
    defaults = parameters_of(type(rules))
    changed = [f"{key}={write_value(getattr(rules, key))}" for key in defaults if getattr(rules, key) != defaults[key]]
    return f"{name}({','.join(changed)})" if changed else name


def contrast(text: str, rules: Rules) -> str:
    """Returns that a game's name is not that of `rules`, and where it is the same game in which parameters they differ.

    E.g. `go(size=7), not go(komi=9.0): size is 7, not 9; komi is 7.5, not 9.0`.
    """
    name = name_of(rules)
    base, _, arguments = without_folder(text).partition("(")
    if base != without_folder(name).partition("(")[0]:
        return f"{text}, not {name}"
    own = {key: write_value(value) for key, value in parameters_of(type(rules)).items()}
    own |= dict(part.split("=", 1) for part in arguments.removesuffix(")").split(",") if "=" in part)
    sought = {key: write_value(getattr(rules, key)) for key in parameters_of(type(rules))}
    differing = "; ".join(f"{key} is {own[key]}, not {value}" for key, value in sought.items() if own[key] != value)
    return f"{text}, not {name}: {differing}".removesuffix(": ")


def write_value(value: object) -> str:
    """Returns a parameter's value as it is written in a game's name."""
    if isinstance(value, float):
        return np.format_float_positional(value, trim="0")  # never with an exponent
    return str(value).lower() if isinstance(value, bool) else str(value)


def source_digest_of(rules: Rules) -> str:
    """Returns the digest of the user's sources that the rules come from; empty for azero's own."""
    return getattr(type(rules), SOURCE_DIGEST, "")
