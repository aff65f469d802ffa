"""Formats of files: each file says its version, and what was written by another version still loads or says why not."""

import functools
import sys
from collections.abc import Collection
from reprlib import repr as short
from typing import Any

from azero.errors import BadInput


def check_format(what: str, found: object, known: int) -> None:
    """Raises BadInput where a file is of another format than this version reads."""
    if type(found) is not int or found != known:
        raise BadInput(f"{what} is of format {short(found)}; this version of azero reads format {known}")


def drop_unknown(what: str, values: dict[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Returns the values whose names are known; the others are left out, which is told in one line.

    So a file loads that was written before a name was given up.
    """
    unknown = [name for name in values if name not in known]
    if unknown:
        warn_once(f"{what} has {', '.join(unknown)}, which this version of azero does not know and leaves out")
    return {name: value for name, value in values.items() if name in known}


@functools.cache
def warn_once(what: str) -> None:
    """Says something on stderr, once in a process: a run loads the same files again and again."""
    print(f"azero: {what}", file=sys.stderr)
