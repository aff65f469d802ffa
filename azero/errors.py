"""Bad input: the one exception that commands turn into a line on stderr and exit code 2."""

import difflib
from collections.abc import Iterable


class BadInput(ValueError):
    """What the user gave cannot be used; the message names the value and what would be right, in one line."""


def suggest_nearest(word: str, known: Iterable[str]) -> str:
    """Returns "did you mean 'x'? " for the nearest known word if one is near, and then the list of all of them."""
    known = sorted(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return (f"did you mean '{near[0]}'? " if near else "") + f"known: {', '.join(known)}"
