"""Versions of file formats. Each file contains the version of its format.

A file of another version loads, or is refused with the reason.
"""

import functools
import multiprocessing
from collections.abc import Collection
from reprlib import repr as short
from typing import Any

from azero.errors import BadInput
from azero.system.console import say


class OtherFormat(BadInput):
    """A file has a format that this version of azero does not read."""


def check_format(what: str, found: object, *known: int) -> None:
    """Raises OtherFormat if a file has another format than the ones that this version of azero reads."""
    if type(found) is not int or found not in known:
        formats = " or ".join(map(str, known))
        raise OtherFormat(f"{what} has format {short(found)}; this version of azero reads format {formats}")


def is_number(value: object) -> bool:
    """Returns whether a value from JSON is a number of a size that something of a run can have."""
    return isinstance(value, int | float) and -1e18 < value < 1e18


def drop_unknown(what: str, values: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Returns the values with known names, and warns about the others.

    So a file that was written before a name was removed still loads.
    """
    unknown = [name for name in values if name not in known]
    if unknown:
        warn_once(f"{what} has {', '.join(unknown)}, which this version of azero does not know and ignores")
    return {name: value for name, value in values.items() if name in known}


@functools.cache
def warn_once(what: str) -> None:
    """Prints a warning on stderr once, because a run and its worker processes load the same files many times."""
    if multiprocessing.parent_process() is None:
        say(what)
