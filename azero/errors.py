"""Exceptions that end a command with one line on stderr: bad input with exit code 2, Ctrl-C with 130."""

import difflib
from collections.abc import Iterable


class BadInput(ValueError):
    """The user's input cannot be used. The message names the value and what would be right, in one line."""


class Damaged(BadInput):
    """A file is not what azero wrote: it does not match its digest, or is not of its kind at all."""


class BrokenRules(BadInput):
    """A game's rules broke their contract during a game."""


class BrokenSearch(BadInput):
    """A user's selection rule or root strategy failed, or broke its contract during a search."""


class EngineFailed(BadInput):
    """Another engine ended, did not answer, refused a command or broke the rules."""


class Allocates(Exception):
    """Rules allocate memory, which compiled code must not."""


class Stopped(Exception):
    """Ctrl-C, with a message that says how to continue."""


ACTIONS_FOUND = "finds {} actions while the game goes on"
"""What is said of `legal_actions` if it finds a wrong number of actions."""

NO_ACTION = f"legal_actions {ACTIONS_FOUND.format(0)}"
TOO_LONG = "max_plies is too small: a game goes on beyond it"

NO_CHILD = "the root strategy chose a node that is no child of the root"
NO_TARGET = "the root strategy wrote no target, or a value outside [-1, 1]"


def suggest_nearest(word: str, known: Iterable[str]) -> str:
    """Returns the list of known words, after "did you mean 'x'? " if one of them is similar to `word`."""
    known = sorted(known)
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    nearest = max(near, key=lambda each: _likeness(word, each), default=None)
    return (f"did you mean '{nearest}'? " if nearest else "") + f"known: {', '.join(known)}"


def _likeness(word: str, other: str) -> float:
    """Returns the similarity of two words, with and without the order of letters: typing errors often swap two."""
    pairs = ((word, other), (sorted(word), sorted(other)))
    return sum(difflib.SequenceMatcher(None, one, another).ratio() for one, another in pairs)
