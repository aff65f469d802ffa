"""Tests of errors and values in messages: one line, NumPy's numbers like Python's, the lines of the user's file."""

import numpy as np
import pytest

from azero.games.reasons import place_of, reason_of, short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(2), "2"),
        (np.uint64(3), "3"),
        (np.float64(10.5), "10.5"),
        (np.bool_(True), "True"),
        (np.str_("a1"), "'a1'"),
        ((np.int8(1), [np.uint64(2)]), "(1, [2])"),
        ({"size": (np.int64(2), 8)}, "{'size': (2, 8)}"),
        (np.array([1, 2]), "array([1, 2])"),
        ("two\n  lines", "'two\\n lines'"),
        (type("Nim_0123456789abcdef", (), {}), f"<class '{__name__}.Nim'>"),
    ],
)
def test_values_are_short_and_plain(value, text):
    assert short(value) == text


def test_long_values_are_cut():
    assert short([0] * 99) == f"[{32 * '0, '}..."


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("of\nmany\n  lines"), "ValueError: of many lines"),
        (AssertionError(), "AssertionError"),
        (KeyError(np.int64(2)), "KeyError: 2"),
        (ValueError("bad", np.uint64(3)), "ValueError: ('bad', 3)"),
        (SystemExit(0), "SystemExit; rules must not end the process"),
        (FloatingPointError("divide by zero encountered"), "ZeroDivisionError: a number is divided by zero; compiled"),
    ],
)
def test_reasons_are_in_one_line(error, reason):
    assert reason_of(error).startswith(reason)


def test_the_innermost_line_of_the_file_is_found(tmp_path):
    file = tmp_path / "my.py"
    source = "def first():\n    second()\n\ndef second():\n    int('x')\n"
    names: dict = {}
    exec(compile(source, str(file), "exec"), names)
    with pytest.raises(ValueError) as error:
        names["first"]()
    assert place_of(error.value, str(file)) == ", line 5"
    assert place_of(error.value, str(tmp_path / "other.py")) == ""
