"""From a name to a game: azero's own games are in the registry, a user's game is in a file."""

from contextlib import suppress
from typing import get_type_hints

from azero.errors import BadInput, suggest_nearest
from azero.games.contract import Rules
from azero.games.names import OPENSPIEL, identity_of, parts_of
from azero.games.parameters import parse_parameters
from azero.games.registry import parameters_of, registered_games
from azero.games.state import Game
from azero.games.user.every_error import find_errors
from azero.games.user.loading import load_rules
from azero.games.user.trial import try_out
from azero.games.user.trust import Untrusted, trust_identity, trust_name


def make_game(name: str, compiles: bool = True) -> Game:
    """Returns a game by name, e.g. `connect_four(rows=6,columns=7)` or `my_game.py:MyGame`.

    If a game has the parameters rows and columns, `size=6` sets both. The file of a user's game is code, and is run:
    this process trusts it, because its caller has named it.

    Args:
      compiles: whether a user's rules are compiled now, so that it is known that they can be. See `without_compiling`.

    Raises:
      BadInput: there is no such game, a parameter is not valid, or a user's game fails a first trial of its rules.
    """
    trust_name(name)
    return Game(parse_game(name, compiles))


def make_trusted_game(name: str) -> Game:
    """Returns the game of a name that was read from a file, such as a checkpoint's card.

    Raises:
      BadInput: as `make_game`; Untrusted for a user's file that the user has not named.
    """
    return Game(parse_game(name))


def make_sent_game(name: str, identity: str) -> Game | None:
    """Returns the game of a name that another process has sent; None if it is not made by the code that was sent.

    That code may run here, since the sender trusts it. Raises BadInput as `make_trusted_game`.

    Args:
      identity: of the code, by `identity_of`.
    """
    if identity:
        trust_identity(identity)
    with suppress(Untrusted):
        game = make_trusted_game(name)
        if identity_of(game.rules) == identity:
            return game
    return None


def errors_of(name: str) -> list[str]:
    """Returns every error of a user's rules that `make_game` has refused, in one line each.

    There are none if it is not the methods of the rules that are wrong, but e.g. the name.
    """
    try:
        rules, file = _read_game(name)
    except BadInput:
        return []
    return find_errors(rules, file) if file else []


def parse_game(text: str, compiles: bool = True) -> Rules:
    """Returns the rules of a game by name, as `make_game` does; raises BadInput. A user's file must be trusted."""
    if text.strip().startswith(OPENSPIEL):
        from azero.games.openspiel.bridge import open_rules  # here, because few programs need it

        return open_rules(text.strip())
    rules, file = _read_game(text)
    if file:
        try_out(rules, file, compiles)
    return rules


def _read_game(text: str) -> tuple[Rules, str | None]:
    """Returns the rules of a game by name, and the file of a user's game. The rules are not tried out."""
    file, name, arguments = parts_of(text)
    rules = _find(file, name)
    values = _values_of(rules, name, arguments)
    lacking = [key for key, value in parameters_of(rules).items() if value is None and key not in values]
    if lacking:
        raise BadInput(f"{name} needs {', '.join(lacking)}, e.g. {name}({lacking[0]}=...)")
    made = rules(**values)
    _check_ranges(name, made)
    made.check()
    return made, file


def _check_ranges(name: str, rules: Rules) -> None:
    """Raises BadInput if a parameter is outside its range."""
    parameters = parameters_of(type(rules))
    for key, (low, high) in rules.ranges().items():
        if key not in parameters:
            raise BadInput(f"{name}.ranges names {key!r}; the parameters are {', '.join(parameters) or 'none'}")
        value = getattr(rules, key)
        if not low <= value <= high:
            raise BadInput(f"{name}: {key}={value} is out of range; it can be {low} to {high}")


def _find(file: str | None, name: str) -> type:
    """Returns the class of rules with this name; raises BadInput if there is none."""
    if file:
        return load_rules(file, name)
    known = registered_games()
    if name not in known:
        raise BadInput(f"unknown game {name!r}; {suggest_nearest(name, known)}")
    return known[name]


def _values_of(rules: type, name: str, arguments: str | None) -> dict[str, object]:
    """Returns the values that a name gives. `size=6` sets rows and columns, where a game has these."""
    parameters = parameters_of(rules)
    types = {key: kind for key, kind in get_type_hints(rules).items() if key in parameters}
    if "size" in types or not {"rows", "columns"} <= types.keys():
        return parse_parameters(name, arguments, types)
    values = parse_parameters(name, arguments, {**types, "size": types["rows"]})
    if "size" not in values:
        return values
    if twice := [key for key in ("rows", "columns") if key in values]:
        raise BadInput(f"{name}: {twice[0]} is given twice")
    size = values.pop("size")
    return {**values, "rows": size, "columns": size}
