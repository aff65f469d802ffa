"""Tests of options in an agent's name: how they are written, read and refused."""

import re

import pytest

from azero.arena.agents.options import Options, split_options, with_options
from azero.errors import BadInput


@pytest.mark.parametrize(
    ("base", "word", "options"),
    [
        ("uct", "uct", {}),
        ("uct()", "uct", {}),
        ("uct(c=2)", "uct", {"c": "2"}),
        ("uct(c=2,by=value)", "uct", {"c": "2", "by": "value"}),
        ("uct( c = 2 , by = value )", "uct", {"c": "2", "by": "value"}),
        ("uct(c=2,)", "uct", {"c": "2"}),
        ("x(a=b=c)", "x", {"a": "b=c"}),
    ],
)
def test_a_word_and_its_options(base, word, options):
    assert split_options(base) == (word, options)
    assert Options(base).word == word


def test_options_are_added_to_those_there_are():
    assert with_options("mc", root="turns") == "mc(root=turns)"
    assert with_options("uct(c=1,prove=false)", table=1000, c=2) == "uct(c=2,prove=false,table=1000)"


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("uct(c=2", "agent 'uct(c=2': options should be written uct(key=value,...)"),
        ("uct(c=2)x", "agent 'uct(c=2)x': options should be written uct(key=value,...)"),
        ("uct(2)", "agent 'uct(2)': '2' should be written key=value"),
        ("uct(c=)", "agent 'uct(c=)': 'c=' should be written key=value"),
        ("uct(c=2, )", "agent 'uct(c=2, )': '' should be written key=value"),
        ("uct(c=2\n3)", r"agent 'uct(c=2\n3)': 'c=2\n3' should be written key=value"),
        ("uct(c=2,c=3)", "agent 'uct(c=2,c=3)' sets c twice"),
    ],
)
def test_what_is_not_so_written_is_refused(base, message):
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        Options(base)


def test_what_is_not_set_has_its_default():
    options = Options("a")
    assert options.number("c", 1.5, 0.0, 2.0) == 1.5
    assert options.whole("n", 7, 0, 9) == 7
    assert options.choice("by", ("visits", "value")) == "visits"
    assert options.text("rest") is None and options.memory("table", 32, 2, 100) is None
    options.finish()


def test_what_is_set_is_read():
    options = Options("a(c=-0.25,n=9,by=value,rest=x/y,table=100)")
    assert options.number("c", 1.5, -1.0, 2.0) == -0.25
    assert options.whole("n", 7, 0, 9) == 9
    assert options.choice("by", ("visits", "value")) == "value"
    assert options.text("rest") == "x/y"
    assert options.memory("table", 32, 2, 100) == 100
    options.finish()


@pytest.mark.parametrize(("text", "entries"), [("1MiB", 32_768), ("64MiB", 2_097_152), ("2", 2)])
def test_memory_is_entries_or_mebibytes(text, entries):
    assert Options(f"a(table={text})").memory("table", 32, 2, 1 << 28) == entries


@pytest.mark.parametrize("text", ["3", "-0.1", "x", "nan", "inf", "1e3", "1e400", "0x1", "2.0.0"])
def test_numbers_out_of_range_are_refused(text):
    message = f"agent 'a(c={text})': c = {text} should be a number from 0 to 2.5"
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        Options(f"a(c={text})").number("c", 1.0, 0.0, 2.5)


@pytest.mark.parametrize("text", ["1001", "-1", "5.0", "five", "9" * 30])
def test_whole_numbers_out_of_range_are_refused(text):
    message = f"agent 'a(n={text})': n = {text} should be a whole number from 0 to 1,000"
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        Options(f"a(n={text})").whole("n", 1, 0, 1000)


def test_what_is_no_choice_is_refused():
    with pytest.raises(BadInput, match=r"^agent 'a\(by=luck\)': by = luck should be one of visits, value$"):
        Options("a(by=luck)").choice("by", ("visits", "value"))


@pytest.mark.parametrize("text", ["1", "65537", "0MiB", "3MiB", "1GiB", "1.5MiB", "lots", "-2"])
def test_memory_out_of_range_is_refused(text):
    message = f"agent 'a(table={text})': table = {text} should be from 2 to 65,536 entries, or memory, e.g. 64MiB"
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        Options(f"a(table={text})").memory("table", 32, 2, 65_536)


def test_an_option_that_nobody_asked_for_is_refused():
    options = Options("a(visit=5)")
    options.whole("visits", 1, 0, 9)
    message = "agent 'a(visit=5)': unknown option 'visit'; did you mean 'visits'? known: resign, visits"
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        options.finish()
    with pytest.raises(BadInput, match=r"^agent 'a\(c=1\)': unknown option 'c'; known: resign$"):
        Options("a(c=1)").finish()
