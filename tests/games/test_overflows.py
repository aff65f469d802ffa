"""Tests of overflows in plain Python: those of small integers are noted by line, those of 64 bits are not."""

import numpy as np
import pytest

from azero.games.reasons import advice_on
from azero.games.user.overflows import Overflows

TABLE = np.array([100, 120, 3], np.int8)


def small_product(k):
    return TABLE[k] * TABLE[k + 1]


def small_sum(k):
    key = np.int8(100)
    key += TABLE[k]
    return key


def below_zero(k):
    return 5 + (np.uint8(k) - 1)


def broken_line(k):
    return 3 * (
        TABLE[k]
        * TABLE[k + 1]
    )  # fmt: skip


def wide(k):
    return np.uint64(2**63 + k) * np.uint64(2) + (np.int64(2**62) * np.int64(4)).astype(np.uint64)


def of_floats(k):
    return np.float64(1e308) * TABLE[k]


def unknown(k):
    return max(TABLE) * TABLE[k]


def note_of(function) -> str:
    """Returns the note after two calls of a function."""
    overflows = Overflows()
    with np.errstate(over="call", call=overflows):
        function(0), function(0)
    return overflows.note()


@pytest.mark.parametrize(
    ("function", "line", "text", "dtype", "mended"),
    [
        (small_product, 1, "TABLE[k] * TABLE[k + 1]", "int8", "TABLE[k]"),
        (small_sum, 2, "key += TABLE[k]", "int8", "key"),
        (below_zero, 1, "np.uint8(k) - 1", "uint8", "np.uint8(k)"),
        (broken_line, 2, "TABLE[k] * TABLE[k + 1]", "int8", "TABLE[k]"),
    ],
)
def test_small_integers_are_noted_by_line(function, line, text, dtype, mended):
    line += function.__code__.co_firstlineno
    told = f"; line {line} overflows in plain Python, where {text} is of {dtype}; compiled, it has 64 bits: "
    assert note_of(function) == f"{told}write np.int64({mended})"


@pytest.mark.parametrize("function", [wide, of_floats, unknown])
def test_what_wraps_around_when_compiled_or_is_not_known_is_not_noted(function):
    assert note_of(function) == ""


@pytest.mark.parametrize(
    ("work", "advice"),
    [
        (lambda: np.int8(5) + 300, "write np.int64(...) around the small integer"),
        (lambda: np.uint8(5) + -1, "unsigned integers are never negative"),
        (lambda: np.uint64(2**70), "write np.uint64(...) around integers of 2**63 or more"),
        (lambda: np.int64(2**63), "write np.uint64(...) around integers of 2**63 or more"),
        (lambda: np.uint64(5) & np.int64(3), "write np.uint64(...) around a signed integer that"),
        (lambda: (1, 2)[np.uint64(1) + np.int64(0)], "/ gives a float, and so does np.uint64 with"),
        (lambda: TABLE[np.uint64(1) + np.int64(0)], "/ gives a float, and so does np.uint64 with"),
        (lambda: range(np.uint64(1) + np.int64(0)), "/ gives a float, and so does np.uint64 with"),
    ],
)
def test_errors_of_numpy_s_integers_say_what_to_write(work, advice):
    with pytest.raises((OverflowError, TypeError, IndexError)) as error:
        work()
    assert advice_on(error.value).startswith(f"; {advice}")


def test_other_errors_have_no_advice():
    assert advice_on(ValueError("invalid literal for int() with base 10: 'many'")) == ""
