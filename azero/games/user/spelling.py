"""Names in a class of rules that nearly spell an optional part of the contract."""

import difflib
import inspect

from azero.games.contract import Rules
from azero.games.defaults import DEFAULTS

_LIKENESS = 0.75
"""The least ratio of difflib between two such names. `symmetry` and `symmetries` have 0.78."""


def find_misspelt(rules: Rules) -> list[str]:
    """Returns a warning for each public name of the class that nearly spells an optional method or attribute.

    The parameters of the game cause no warning. Neither does a name whose nearest optional name the class has as well.
    """
    of_class = type(rules)
    lacking = {name for name, default in DEFAULTS.items() if inspect.unwrap(getattr(of_class, name)) is default}
    known = {*vars(Rules), *of_class._fields}  # type: ignore[attr-defined]
    own = [name for name in vars(of_class) if name not in known and not name.startswith("_")]
    nearest = {name: difflib.get_close_matches(name, DEFAULTS, n=1, cutoff=_LIKENESS) for name in own}
    meant = [(name, near[0]) for name, near in nearest.items() if near and near[0] in lacking]
    return [f"azero never uses {name}: did you mean {near}?" for name, near in meant]
