"""Messages on stderr, one line each."""

import contextlib
import functools
import multiprocessing
import sys

_LONGEST = 2000  # characters of a message


def say(text: str) -> None:
    """Prints `azero: text` on stderr, in one line. Does nothing if stderr is closed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        line = " ".join(text.split())
        shown = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
        print(f"azero: {printable(shown)}", file=sys.stderr, flush=True)


@functools.cache
def warn_once(what: str) -> None:
    """Prints a warning on stderr once, because a run and its worker processes load the same files many times."""
    if multiprocessing.parent_process() is None:
        say(what)


def printable(text: str) -> str:
    """Returns a text in which each character that cannot be shown is escaped.

    A name in a file may have escape sequences, which would reach the terminal, or halves of surrogate pairs.
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
