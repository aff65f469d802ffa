"""Errors and values in one line, as messages show them."""

import re
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from azero.errors import BrokenRules

MODULE = "azero_user_"
"""How the names of all modules with a user's code begin in `sys.modules`. A digest follows."""

PACKAGE_OF_MODULES = f"{MODULE}modules_"
"""How the names of the packages begin into which a user's files import their own modules."""

_MOST_CHARACTERS = 100
_MOST_LISTED = 20  # legal moves in an error message
_MOST_SHOWN = 100  # played actions in an error message

_ADVICE = (
    (r"Python integer -\d+ out of bounds for uint", "unsigned integers are never negative: write np.int64(...)"),
    (r"Python integer \d+ out of bounds for u?int(8|16|32)", "write np.int64(...) around the small integer"),
    (
        r"(out of bounds for u?int64|int too (big|large) to convert)",
        "write np.uint64(...) around integers of 2**63 or more",
    ),
    (
        r"ufunc '\w+' not supported for the input types",
        "write np.uint64(...) around a signed integer that is combined with np.uint64",
    ),
    (
        r"numpy\.float64|only integers",
        "/ gives a float, and so does np.uint64 with a signed integer: write //, or np.uint64(...) around it",
    ),
)
"""Patterns of NumPy's errors about integers, with what to write instead."""


def reason_of(error: BaseException) -> str:
    """Returns the type and the message of an error."""
    if isinstance(error, SystemExit):
        return "SystemExit; rules must not end the process"
    if isinstance(error, FloatingPointError) and "divide by zero" in str(error):
        return "ZeroDivisionError: a number is divided by zero; compiled rules do not notice"
    with _plain_numbers():  # a KeyError shows its key by `repr`
        return in_one_line(f"{type(error).__name__}: {error}").removesuffix(":") + advice_on(error)


def fails_with(error: BaseException, place: str) -> str:
    """Returns `fails, line N: Type: message`. `place` is `, line N`, or empty if the line is not known."""
    return f"fails{place}: {reason_of(error)}"


def advice_on(error: object) -> str:
    """Returns what to write to avoid an error about integers, to append to its message. Empty for other errors."""
    return next((f"; {advice}" for said, advice in _ADVICE if re.search(said, str(error))), "")


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


def public_names(text: str) -> str:
    """Returns a text with the names of modules as in the user's sources."""
    return re.sub(rf"\b{PACKAGE_OF_MODULES}[0-9a-f]{{16}}\.", "", text)


def place_of(error: BaseException, file: str) -> str:
    """Returns `, line N` for the innermost line of `file` in the error's traceback. Empty if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == Path(file).resolve()]
    return f", line {lines[-1]}" if lines else ""


def broken_rules(name: str, what: str, actions: Sequence[int]) -> BrokenRules:
    """Returns an error whose message, one line, says what is wrong with the rules `name`, and after which actions."""
    return BrokenRules(f"{name}.{what}{after_actions(actions)}")


def after_actions(actions: Sequence[int]) -> str:
    """Returns the end of an error message, "; actions so far: ..."; empty if there are none."""
    shown = " ".join(map(str, actions[:_MOST_SHOWN]))
    more = f" ... ({len(actions)} in all)" if len(actions) > _MOST_SHOWN else ""
    return f"; actions so far: {shown}{more}" if shown else ""


def listed(words: Iterable[str]) -> str:
    """Returns words in one line: the first `_MOST_LISTED`, and the number of all if there are more."""
    words = list(words)
    left_out = f" ... ({len(words)} in all)" if len(words) > _MOST_LISTED else ""
    return " ".join(words[:_MOST_LISTED]) + left_out
