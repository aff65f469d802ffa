"""Bad input: the one exception that commands turn into a line on stderr and exit code 2."""

import difflib
from collections.abc import Iterable


class BadInput(ValueError):
    """What the user gave cannot be used; the message names the value and what would be right, in one line."""


class BrokenRules(BadInput):
    """Rules break their contract in the middle of a game. Compiled code can say what is wrong, Python which game."""


NO_ACTION = "legal_actions finds 0 actions where the game goes on"
TOO_LONG = "max_plies is too small: a game goes on beyond it"


def suggest_nearest(word: str, known: Iterable[str]) -> str:
    """Returns "did you mean 'x'? " for the nearest known word if one is near, and then the list of all of them."""
    known = sorted(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return (f"did you mean '{near[0]}'? " if near else "") + f"known: {', '.join(known)}"
