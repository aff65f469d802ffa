"""Games by name, as OpenSpiel writes them: `connect_four`, `connect_four(rows=5,columns=6)`."""

import re
from collections import namedtuple
from collections.abc import Callable

from azero.errors import BadInput, suggest_nearest
from azero.games.contract import Rules
from azero.games.defaults import DEFAULTS

_RULES: dict[str, type] = {}

_VALUES: dict[type, tuple[str, Callable[[str], object]]] = {
    int: (r"-?\d{1,9}", int),
    float: (r"-?\d{1,9}(\.\d{0,9})?", float),
    bool: (r"(?i:true|false)", lambda text: text.lower() == "true"),
    str: (r"\w+", str),
}
"""How a parameter of each type is written, and read."""


def game(name: str) -> Callable[[type], type]:
    """Registers the class of rules below it under `name`."""

    def register(rules: type) -> type:
        if name in _RULES:
            raise ValueError(f"two games are named {name!r}")
        _RULES[name] = complete(rules)
        return _RULES[name]

    return register


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
    """Returns the rules that `text` names, e.g. `connect_four(rows=5,columns=6)`; raises BadInput."""
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text)
    if not match:
        raise BadInput(f"game {text!r} is not of the form name or name(parameter=value,...), e.g. connect_four(rows=6)")
    name, arguments = match.groups()
    if name not in _RULES:
        raise BadInput(f"unknown game {name!r}; {suggest_nearest(name, _RULES)}")
    rules = _RULES[name]
    parameters = arguments.split(",") if arguments and arguments.strip() else []
    values: dict[str, object] = {}
    for key, value in (_parse_parameter(rules, name, each) for each in parameters):
        if key in values:
            raise BadInput(f"{name}: {key} is given twice")
        values[key] = value
    made = rules(**values)
    made.check()
    return made


def _parse_parameter(rules: type, name: str, text: str) -> tuple[str, object]:
    """Returns the parameter's name and its value, of the type the rules declare for it."""
    key, separator, value_text = (part.strip() for part in text.partition("="))
    types: dict[str, type] = rules.__annotations__
    if key not in types:
        raise BadInput(f"{name} has no parameter {key!r}; {suggest_nearest(key, types) if types else 'it takes none'}")
    pattern, convert = _VALUES[types[key]]
    if not separator or not re.fullmatch(pattern, value_text):
        raise BadInput(f"{name}: {key}={value_text!r} should be of type {types[key].__name__}")
    return key, convert(value_text)


def name_of(rules: Rules) -> str:
    """Returns the text that names these rules, with the parameters that differ from their defaults."""
    name = next(name for name, known in _RULES.items() if known is type(rules))
    defaults = parameters_of(type(rules))
    changed = [f"{key}={getattr(rules, key)}" for key in defaults if getattr(rules, key) != defaults[key]]
    return f"{name}({','.join(changed)})" if changed else name
