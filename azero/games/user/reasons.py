"""Errors and values in one line, as messages show them."""

import re
import traceback
from pathlib import Path

import numpy as np

from azero.games.user.overflows import advice_on
from azero.games.user.sources import public_names

_MOST_CHARACTERS = 100


def reason_of(error: BaseException) -> str:
    """Returns the type and the message of an error."""
    if isinstance(error, SystemExit):
        return "SystemExit; rules must not end the process"
    if isinstance(error, FloatingPointError) and "divide by zero" in str(error):
        return "ZeroDivisionError: a number is divided by zero; compiled rules do not notice"
    with _plain_numbers():  # a KeyError shows its key by `repr`
        return in_one_line(f"{type(error).__name__}: {error}").removesuffix(":") + advice_on(error)


def short(value: object) -> str:
    """Returns the `repr` of a value, cut to 100 characters. NumPy's numbers look like Python's: 2, not np.int64(2)."""
    with _plain_numbers():
        text = in_one_line(repr(value))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 3]}..."


def _plain_numbers():
    return np.printoptions(legacy="1.25")  # the last version that wrote NumPy's numbers without their type


def in_one_line(text: str) -> str:
    """Returns a text in one line, with the names of classes and modules as in the user's sources."""
    return without_digest(" ".join(text.split()))


def without_digest(text: str) -> str:
    """Returns a text without the digests that azero adds to the names of classes and modules."""
    return re.sub(r"(?<=\w)_[0-9a-f]{16}\b", "", public_names(text))


def place_of(error: BaseException, file: str) -> str:
    """Returns `, line N` for the innermost line of `file` in the error's traceback. Empty if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == Path(file).resolve()]
    return f", line {lines[-1]}" if lines else ""
