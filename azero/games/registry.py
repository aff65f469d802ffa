"""The registry: classes of rules under their names, each with a default for every optional method."""

from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

from azero.games.defaults import DEFAULTS

_RULES: dict[str, type] = {}

TEXT_METHODS = ("action_to_text", "text_to_action", "split_moves", "draw")
"""Methods that a game may keep in a module of their own."""

PARAMETER_TYPES: dict[type, tuple[str, Callable[[str], object]]] = {
    int: (r"-?\d{1,9}", int),
    float: (r"-?\d{1,9}(\.\d{0,9})?", float),
    bool: (r"(?i:true|false)", lambda text: text.lower() == "true"),
}
"""How a parameter of each type is written, and read."""


def game(name: str, text: ModuleType | None = None) -> Callable[[type], type]:
    """Registers the class of rules below it under `name`; it gets the functions of `text` as methods."""

    def register(rules: type) -> type:
        if name in _RULES:
            raise ValueError(f"two games are named {name!r}; a file of your own needs no @game(...)")
        for each in TEXT_METHODS if text else ():
            setattr(rules, each, getattr(text, each))
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
