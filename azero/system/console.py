"""Messages on stderr, one line each."""

import contextlib
import sys


def say(text: str) -> None:
    """Prints `azero: text` on stderr, in one line. Does nothing if stderr is closed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"azero: {printable(' '.join(text.split()))}", file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Returns a text in which each character that cannot be shown is escaped.

    A name in a file may have escape sequences, which would reach the terminal, or halves of surrogate pairs.
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
