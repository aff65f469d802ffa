"""Errors that a user's rules raise in the middle of a search, a match or training."""

from collections.abc import Iterator
from contextlib import contextmanager

from azero.errors import BadInput, BrokenRules
from azero.games.reasons import failure_in


@contextmanager
def failures_named() -> Iterator[None]:
    """Raises BrokenRules, with file, method and line, if a user's rules raise an error inside the block."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if failure := failure_of(error):
            raise failure from None
        raise


def failure_of(error: BaseException) -> BrokenRules | None:
    """Returns an error that names file, method and line, if a user's rules have raised `error`. Otherwise None.

    It is None for BadInput too, whose message is one line already.
    """
    text = None if isinstance(error, BadInput) else failure_in(error)
    return BrokenRules(text) if text else None
