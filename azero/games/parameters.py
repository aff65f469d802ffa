"""Parameters in names, as in `connect_four(rows=6,columns=7)`: of games, and of a user's nets and searches."""

import re
from collections.abc import Callable, Mapping

from azero.errors import BadInput, suggest_nearest

_Type = tuple[str, Callable[[str], object], str]

PARAMETER_TYPES: dict[type, _Type] = {
    int: (r"-?\d{1,9}", int, "an integer of at most 9 digits"),
    float: (r"-?\d{1,9}(\.\d{0,9})?", float, "a number"),
    bool: (r"(?i:true|false)", lambda text: text.lower() == "true", "true or false"),
}
"""By type: the pattern of a parameter's text, the conversion to its value, and what the text should be."""

_TEXT: _Type = r"[^()]*", str, "a text without parentheses"  # only OpenSpiel's games have such parameters


def parse_parameters(name: str, arguments: str | None, types: Mapping[str, type]) -> dict[str, object]:
    """Returns the values that a name gives; raises BadInput if one is unknown, of another type, or given twice.

    Args:
      name: without its parameters, for messages.
      arguments: what stands in its parentheses, e.g. `rows=6,columns=7`.
      types: of all parameters.
    """
    values: dict[str, object] = {}
    for part in arguments.split(",") if arguments and arguments.strip() else []:
        key, separator, text = (each.strip() for each in part.partition("="))
        if key not in types:
            raise BadInput(
                f"{name} has no parameter {key!r}; {suggest_nearest(key, types) if types else 'it takes none'}"
            )
        pattern, convert, should = PARAMETER_TYPES.get(types[key], _TEXT)
        if not separator or not re.fullmatch(pattern, text):
            raise BadInput(f"{name}: {key}={text!r} should be {should}")
        if key in values:
            raise BadInput(f"{name}: {key} is given twice")
        values[key] = convert(text)
    return values
