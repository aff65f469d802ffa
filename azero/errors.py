"""What ends a command with a line on stderr: bad input, with exit code 2; and Ctrl-C, with 130."""

import difflib
from collections.abc import Iterable


class BadInput(ValueError):
    """What the user gave cannot be used; the message names the value and what would be right, in one line."""


class BrokenRules(BadInput):
    """Rules break their contract in the middle of a game. Compiled code can say what is wrong, Python which game."""


class EngineFailed(BadInput):
    """Another engine ended, fell silent, refused a command or broke the rules."""


class Stopped(Exception):
    """Ctrl-C, where there is something to say of it: how to go on."""


NO_ACTION = "legal_actions finds 0 actions where the game goes on"
TOO_LONG = "max_plies is too small: a game goes on beyond it"


def suggest_nearest(word: str, known: Iterable[str]) -> str:
    """Returns "did you mean 'x'? " for the nearest known word if one is near, and then the list of all of them."""
    known = sorted(known)
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    nearest = max(near, key=lambda each: _likeness(word, each), default=None)
    return (f"did you mean '{nearest}'? " if nearest else "") + f"known: {', '.join(known)}"


def _likeness(word: str, other: str) -> float:
    """Returns how alike two words are, in the order of their letters and in the letters alone: slips often swap two."""
    pairs = ((word, other), (sorted(word), sorted(other)))
    return sum(difflib.SequenceMatcher(None, one, another).ratio() for one, another in pairs)
