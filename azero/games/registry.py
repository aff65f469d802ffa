"""Games by name: azero's, as OpenSpiel writes them, `connect_four(rows=5)`; and the user's, `my_game.py:MyGame`."""

import re
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PureWindowsPath
from typing import get_type_hints

import numpy as np

from azero.errors import BadInput, suggest_nearest
from azero.games.contract import Rules
from azero.games.defaults import DEFAULTS
from azero.jit import SOURCE_DIGEST

_RULES: dict[str, type] = {}

PARAMETER_TYPES: dict[type, tuple[str, Callable[[str], object]]] = {
    int: (r"-?\d{1,9}", int),
    float: (r"-?\d{1,9}(\.\d{0,9})?", float),
    bool: (r"(?i:true|false)", lambda text: text.lower() == "true"),
}
"""How a parameter of each type is written, and read."""


def game(name: str) -> Callable[[type], type]:
    """Registers the class of rules below it under `name`."""

    def register(rules: type) -> type:
        if name in _RULES:
            raise ValueError(f"two games are named {name!r}; a file of your own needs no @game(...)")
        _RULES[name] = complete(rules)
        return _RULES[name]

    return register


@contextmanager
def without_registering() -> Iterator[None]:
    """Forgets, when the block is left, the games that were registered in it."""
    known = dict(_RULES)
    try:
        yield
    finally:
        _RULES.clear()
        _RULES.update(known)


def complete(rules: type) -> type:
    """Gives a class of rules the default of every optional method that it does not write."""
    if not rules._fields:  # type: ignore[attr-defined]
        rules = _with_a_field(rules)
    for name, method in DEFAULTS.items():
        if not hasattr(rules, name):
            setattr(rules, name, method)
    return rules


def _with_a_field(rules: type) -> type:
    """Returns the same rules with a field that nobody sees; Numba cannot call methods of an empty NamedTuple."""
    carrier = namedtuple(rules.__name__, ["unused"], defaults=[0])  # type: ignore[misc]
    own = {
        key: value
        for key, value in vars(rules).items()
        if not hasattr(carrier, key) or key in ("__doc__", "__module__")
    }
    return type(rules.__name__, (carrier,), {**own, "__slots__": (), "__annotations__": {}})


def registered_games() -> dict[str, type]:
    """Returns the classes of rules by name, in alphabetical order."""
    return dict(sorted(_RULES.items()))


def parameters_of(rules: type) -> dict[str, object]:
    """Returns a game's parameters with their defaults."""
    return {key: rules._field_defaults.get(key) for key in rules.__annotations__}  # type: ignore[attr-defined]


def parse_game(text: str) -> Rules:
    """Returns the rules that `text` names; raises BadInput.

    Either one of azero's games, `connect_four(rows=5,columns=6)`, or one in a file, `my_game.py:MyGame(heap=7)`. Where
    a game has rows and columns, `size=6` sets both.
    """
    file, name, arguments = _parts_of(text)
    rules = _find(file, name)
    parameters = arguments.split(",") if arguments and arguments.strip() else []
    values: dict[str, object] = {}
    for each in parameters:
        for key, value in _parse_parameter(rules, name, each):
            if key in values:
                raise BadInput(f"{name}: {key} is given twice")
            values[key] = value
    lacking = [key for key, value in parameters_of(rules).items() if value is None and key not in values]
    if lacking:
        raise BadInput(f"{name} needs {', '.join(lacking)}, e.g. {name}({lacking[0]}=...)")
    made = rules(**values)
    _check_ranges(name, made)
    made.check()
    if file:
        from azero.games.trial import try_out

        try_out(made)
    return made


def _check_ranges(name: str, rules: Rules) -> None:
    """Raises BadInput where a parameter lies outside the range that the rules give for it."""
    parameters = parameters_of(type(rules))
    for key, (low, high) in rules.ranges().items():
        if key not in parameters:
            raise BadInput(f"{name}.ranges names {key!r}; the parameters are {', '.join(parameters) or 'none'}")
        value = getattr(rules, key)
        if not low <= value <= high:
            raise BadInput(f"{name}: {key}={value} is out of range; it can be {low} to {high}")


def file_of(text: str) -> str | None:
    """Returns the file that a game's name has, or None where it is one of azero's; raises BadInput where it is none."""
    return _parts_of(text)[0]


def without_folder(text: str) -> str:
    """Returns a game's name, of a user's file the last part of its path only: what a game keeps when it is moved.

    It may have been moved to another system: every system's separators count.
    """
    file, py, rest = text.rpartition(".py:")
    return f"{PureWindowsPath(file).name}{py}{rest}"


def _parts_of(text: str) -> tuple[str | None, str, str | None]:
    """Returns file, name and arguments of a game's name; raises BadInput."""
    match = re.fullmatch(r"\s*(?:(.*\.py)\s*:\s*)?(\w+)\s*(?:\((.*)\))?\s*", text)
    if not match:
        example = f"{text}:MyGame" if text.endswith(".py") else "connect_four(rows=6)"
        raise BadInput(f"game {text!r} is not of the form name or name(parameter=value,...), e.g. {example}")
    file, name, arguments = match.groups()
    return file, name, arguments


def _find(file: str | None, name: str) -> type:
    """Returns the class of rules of that name."""
    if file:
        from azero.games.user_file import load_rules

        return load_rules(file, name)
    if name not in _RULES:
        raise BadInput(f"unknown game {name!r}; {suggest_nearest(name, _RULES)}")
    return _RULES[name]


def _parse_parameter(rules: type, name: str, text: str) -> list[tuple[str, object]]:
    """Returns the names of the parameters that are set, and the value, of the type the rules declare for them."""
    key, separator, value_text = (part.strip() for part in text.partition("="))
    types = _types_of(rules)
    keys = ["rows", "columns"] if key == "size" and key not in types and {"rows", "columns"} <= set(types) else [key]
    if keys[0] not in types:
        raise BadInput(f"{name} has no parameter {key!r}; {suggest_nearest(key, types) if types else 'it takes none'}")
    pattern, convert = PARAMETER_TYPES[types[keys[0]]]
    if not separator or not re.fullmatch(pattern, value_text):
        raise BadInput(f"{name}: {key}={value_text!r} should be of type {types[keys[0]].__name__}")
    return [(each, convert(value_text)) for each in keys]


def _types_of(rules: type) -> dict[str, type]:
    """Returns the types of a game's parameters."""
    return {key: kind for key, kind in get_type_hints(rules).items() if key in parameters_of(rules)}


def name_of(rules: Rules) -> str:
    """Returns the text that names these rules, with the parameters that differ from their defaults."""
    file_name = getattr(type(rules), "file_name", None)
    name = file_name or next(name for name, known in _RULES.items() if known is type(rules))
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
