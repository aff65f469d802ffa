"""Versions of file formats. Each file contains the version of its format. A file of another version is refused."""

from collections.abc import Collection
from reprlib import repr as short

from azero.errors import BadInput
from azero.system.console import printable


class OtherFormat(BadInput):
    """A file has a format that this version of azero does not read."""


def check_format(what: str, found: object, known: int) -> None:
    """Raises OtherFormat if a file has another format than the one that this version of azero reads.

    Args:
      found: the format in the file; None if it has none, as files of early versions.
    """
    if type(found) is not int or found != known:
        own = "no format" if found is None else f"format {short(found)}"
        raise OtherFormat(f"{what} has {own}; this version of azero reads format {known}")


def check_names(what: str, found: Collection[str], known: Collection[str], optional: Collection[str] = ()) -> None:
    """Raises OtherFormat if a file has names that this version of azero does not know, or lacks known ones.

    Its format may be right: a setting or field that comes or goes is no new format.

    Args:
      optional: names that it may lack.
    """
    strange, missing = [each for each in found if each not in known], sorted({*known} - {*found, *optional})
    parts = [f"{verb} {_listed(names)}" for verb, names in (("has", strange), ("lacks", missing)) if names]
    if parts:
        raise OtherFormat(f"{what} is of another version of azero: it {' and '.join(parts)}")


def _listed(names: list[str]) -> str:
    """Returns at most three names, and how many more there are."""
    more = len(names) - 3
    return ", ".join(map(printable, names[:3])) + (f" and {more} more" if more > 0 else "")


def is_number(value: object) -> bool:
    """Returns whether a value from JSON is a number of a size that something of a run can have."""
    return isinstance(value, int | float) and -1e18 < value < 1e18
