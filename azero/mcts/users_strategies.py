"""A user's selection rule or root strategy: a NamedTuple in a file, named `my.py:Name` or `my.py:Name(key=value)`.

The file is found, trusted, hashed and loaded as a game's is (`games/user/`).
"""

import inspect
from typing import Any, get_type_hints

from azero.compiler.jit import check_strategy
from azero.errors import BadInput
from azero.games.names import parts_of
from azero.games.parameters import parse_parameters
from azero.games.user.loading import load_strategy
from azero.games.user.trust import Untrusted


def methods_of(protocol: type) -> dict[str, list[str]]:
    """Returns the methods of a protocol, with the names of their parameters after the strategy itself."""
    methods = {name: value for name, value in vars(protocol).items() if not name.startswith("_") and callable(value)}
    return {name: list(inspect.signature(method).parameters)[1:] for name, method in methods.items()}


def make_users_strategy(name: str, kind: str, protocol: type) -> Any:
    """Returns the strategy of a name with a file.

    Args:
      kind: "rule" or "root".
      protocol: has the methods that it needs.

    Raises:
      BadInput: there is no such strategy, it lacks a method, or a parameter is not valid.
      Untrusted: the user has not named the file.
    """
    file, class_name, arguments = parts_of(name, kind)
    if file is None:
        raise BadInput(f"{kind} {name!r} should be one of azero's, or one of your own, e.g. my.py:Mine")
    if set(file) & set(",()"):  # the gate writes it as an option of an agent
        raise BadInput(f"{kind} file {file!r}: its path should have no comma and no parenthesis")
    try:
        found = load_strategy(file, class_name, kind)
    except Untrusted as error:
        raise Untrusted(f"{error}; if you trust it, name it first, e.g. with azero check-search {name!r}") from None
    what = f"{file}:{class_name}"
    for method, parameters in methods_of(protocol).items():
        _check_method(what, kind, found, method, parameters)
    made = found(**_values_of(what, found, arguments or ""))
    check_strategy(made, methods_of(protocol))
    return made


def _check_method(what: str, kind: str, found: type, method: str, parameters: list[str]) -> None:
    """Raises BadInput unless a class has this method with these parameters, which compiled code calls by name."""
    own = inspect.getattr_static(found, method, None)
    wanted = f"({', '.join((kind, *parameters))})"
    if own is None:
        raise BadInput(f"{what} lacks the method {method}{wanted} of a {kind}")
    if not inspect.isfunction(own):
        raise BadInput(f"{what}.{method} should be a method {wanted}, without decorator")
    given = list(inspect.signature(own).parameters)
    if given[1:] != parameters:
        raise BadInput(f"{what}.{method} should take {wanted}, not ({', '.join(given)})")


def _values_of(what: str, found: type, arguments: str) -> dict[str, object]:
    """Returns the values of all fields, of which `arguments` sets some; raises BadInput."""
    kinds = get_type_hints(found)
    given = parse_parameters(what, arguments, {key: kinds[key] for key in found._fields})  # type: ignore[attr-defined]
    values: dict[str, Any] = {**found._field_defaults, **given}  # type: ignore[attr-defined]
    if lacking := [key for key in found._fields if key not in values]:  # type: ignore[attr-defined]
        raise BadInput(f"{what} needs {', '.join(lacking)}, e.g. {what}({lacking[0]}=...)")
    return {key: kinds[key](value) for key, value in values.items()}
