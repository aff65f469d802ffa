"""The registry of classes of rules by name. A registered class has a default for each optional method it lacks."""

from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

from azero.games.defaults import DEFAULTS

_RULES: dict[str, type] = {}

TEXT_METHODS = {
    "action_to_text",
    "text_to_action",
    "split_moves",
    "position_to_text",
    "text_to_position",
    "draw",
    "winning_cells",
    "picture",
}
"""Methods that a game may define in a separate module."""


def game(name: str, text: ModuleType | None = None) -> Callable[[type], type]:
    """Returns a decorator that registers a class of rules, with the functions of `text` as methods.

    The decorator raises ValueError if another class has this name.
    """

    def register(rules: type) -> type:
        if name in _RULES:
            raise ValueError(f"two games are named {name!r}; a file of your own needs no @game(...)")
        for each in TEXT_METHODS & vars(text).keys() if text else ():
            setattr(rules, each, getattr(text, each))
        _RULES[name] = complete(rules)
        return _RULES[name]

    return register


@contextmanager
def without_registering() -> Iterator[None]:
    """Removes the games that were registered in the block from the registry when the block ends."""
    known = dict(_RULES)
    try:
        yield
    finally:
        _RULES.clear()
        _RULES.update(known)


def complete(rules: type) -> type:
    """Returns the class of rules with a default for every optional method that it does not define."""
    if not rules._fields:  # type: ignore[attr-defined]
        rules = _with_a_field(rules)
    for name, method in DEFAULTS.items():
        if not hasattr(rules, name):
            setattr(rules, name, method)
    return rules


def _with_a_field(rules: type) -> type:
    """Returns the same rules with an unused field, because Numba cannot call methods of an empty NamedTuple."""
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
    """Returns a game's parameters with their defaults; None for a parameter without a default."""
    return {key: rules._field_defaults.get(key) for key in rules.__annotations__}  # type: ignore[attr-defined]
