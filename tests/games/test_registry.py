"""Tests of names of games: their meaning, their errors, and that a game's name makes an equal game."""

import re
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azero.errors import BadInput
from azero.games import make, make_game, names, registered_games, registry


class Sample(NamedTuple):
    """Rules with a parameter of each type."""

    size: int = 5
    komi: float = 7.5
    swap: bool = False

    def check(game) -> None:
        """There is nothing to refuse."""


@pytest.fixture
def sample():
    with registry.without_registering():
        yield registry.game("sample")(Sample)


def test_games_are_listed_by_name():
    assert list(registered_games()) == sorted(registered_games())
    assert {"connect_four", "tic_tac_toe"} <= set(registered_games())


@pytest.mark.parametrize(
    ("text", "rows", "columns"),
    [
        ("connect_four", 6, 7),
        ("connect_four()", 6, 7),
        ("connect_four(rows=5)", 5, 7),
        ("connect_four(columns=8,rows=4)", 4, 8),
        ("  connect_four ( rows = 5 , columns = 6 ) ", 5, 6),
    ],
)
def test_parameters_that_are_left_out_have_their_defaults(text, rows, columns):
    rules = make_game(text).rules
    assert (rules.rows, rules.columns) == (rows, columns)


@pytest.mark.parametrize(
    "name", ["tic_tac_toe", "connect_four", "connect_four(rows=5)", "connect_four(rows=4,columns=8)"]
)
def test_names_come_back_as_they_were(name):
    assert make_game(name).name == name
    assert make_game(make_game(name).name) == make_game(name)


def test_defaults_are_left_out_of_names():
    assert make_game("connect_four(columns=7,rows=5)").name == "connect_four(rows=5)"
    assert make_game("connect_four(rows=6,columns=7)").name == "connect_four"


@given(
    st.lists(st.sampled_from(["a", "1", " ", ":", "(", ")", ".py", ".py:", "/", "é", "\n"]), max_size=20).map("".join)
)
def test_a_name_has_the_parts_of_its_form(text):
    form = re.fullmatch(r"\s*(?:(.*\.py)\s*:\s*)?(\w+)\s*(?:\((.*)\))?\s*", text)
    if form and text.isprintable():
        assert names.parts_of(text) == form.groups()
    else:
        with pytest.raises(BadInput):
            names.parts_of(text)


@pytest.mark.parametrize(
    ("told", "sought", "difference"),
    [
        ("connect_four", "tic_tac_toe", ""),
        ("go(size=7)", "go(komi=9)", ": size is 7, not 9; komi is 7.5, not 9.0"),
        ("go", "go(size=5)", ": size is 9, not 5"),
        ("connect_four(columns=5)", "connect_four(rows=5,columns=5)", ": rows is 6, not 5"),
    ],
)
def test_names_of_one_game_differ_in_parameters(told, sought, difference):
    game = make_game(sought)
    assert names.contrast(told, game.rules) == f"{told}, not {game}{difference}"


def test_parameters_get_the_type_that_is_declared(sample):
    rules = make.parse_game("sample(size=9,komi=6,swap=true)")
    assert rules == sample(9, 6.0, True) and [type(value) for value in rules] == [int, float, bool]
    assert names.name_of(rules) == "sample(size=9,komi=6.0,swap=true)"
    assert make.parse_game(names.name_of(rules)) == rules


@pytest.mark.parametrize("komi", ["-0.5", "0.00001", "-0.000000001", "999999999.5", "0.1", "7", "-0"])
def test_numbers_are_written_as_they_are_read(sample, komi):
    rules = make.parse_game(f"sample(komi={komi})")
    assert rules.komi == float(komi) and make.parse_game(names.name_of(rules)) == rules


@pytest.mark.parametrize("swap", ["true", "True", "false", "FALSE"])
def test_booleans_are_read_in_any_case_and_written_in_lower(sample, swap):
    rules = make.parse_game(f"sample(swap={swap})")
    assert rules.swap is (swap.lower() == "true")
    assert names.name_of(rules) == ("sample(swap=true)" if rules.swap else "sample")


def test_size_is_rows_and_columns_where_a_game_has_both(sample):
    assert make_game("connect_four(size=5)") == make_game("connect_four(rows=5,columns=5)")
    assert make_game("connect_four(size=5)").name == "connect_four(rows=5,columns=5)"
    assert make_game("connect_four( size = 6 )").name == "connect_four(columns=6)"
    assert names.name_of(make.parse_game("sample(size=9)")) == "sample(size=9)"  # its own


def test_a_parameter_without_a_default_is_asked_for(sample):
    class Heaps(NamedTuple):
        """Rules with parameters without defaults."""

        heap: int
        most: int
        swap: bool = False

    registry.game("heaps")(Heaps)
    for text, lacking in [
        ("heaps", "heap, most, e.g. heaps(heap=...)"),
        ("heaps(swap=true)", "heap, most, e.g. heaps(heap=...)"),
        ("heaps(heap=0)", "most, e.g. heaps(most=...)"),
    ]:
        with pytest.raises(BadInput) as error:
            make.parse_game(text)
        assert str(error.value) == f"heaps needs {lacking}"
    rules = make.parse_game("heaps(most=3,heap=0)")
    assert rules == (0, 3, False) and names.name_of(rules) == "heaps(heap=0,most=3)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "game '' is not of the form name or name(parameter=value,...), e.g. connect_four(rows=6)"),
        (
            "connect four",
            "game 'connect four' is not of the form name or name(parameter=value,...), e.g. connect_four(rows=6)",
        ),
        ("a\nb", r"game 'a\nb' is not of the form name or name(parameter=value,...), e.g. connect_four(rows=6)"),
        ("connect_four(rows=5", "game 'connect_four(rows=5' is not of the form "),
        ("conect4", "unknown game 'conect4'; did you mean 'connect_four'? known: amazons, "),
        ("Tic_Tac_Toe", "unknown game 'Tic_Tac_Toe'; did you mean 'tic_tac_toe'? known: amazons, "),
        ("zzz", "unknown game 'zzz'; known: amazons, "),
        ("connect_four(row=5)", "connect_four has no parameter 'row'; did you mean 'rows'? known: columns, rows"),
        ("connect_four(5,6)", "connect_four has no parameter '5'; known: columns, rows"),
        ("connect_four(=5)", "connect_four has no parameter ''; known: columns, rows"),
        ("tic_tac_toe(size=3)", "tic_tac_toe has no parameter"),
        ("tic_tac_toe(unused=0)", "tic_tac_toe has no parameter"),
        ("connect_four(rows)", "connect_four: rows='' should be an integer of at most 9 digits"),
        ("connect_four(rows=)", "connect_four: rows='' should be an integer of at most 9 digits"),
        ("connect_four(rows=six)", "connect_four: rows='six' should be an integer of at most 9 digits"),
        ("connect_four(rows=6.0)", "connect_four: rows='6.0' should be an integer of at most 9 digits"),
        ("connect_four(rows=True)", "connect_four: rows='True' should be an integer of at most 9 digits"),
        ("connect_four(rows=5=6)", "connect_four: rows='5=6' should be an integer of at most 9 digits"),
        (
            "connect_four(rows=__import__('os'))",
            "connect_four: rows=\"__import__('os')\" should be an integer of at most 9 digits",
        ),
        ("connect_four(rows=9)", "connect_four: rows=9 is out of range; it can be 4 to 8"),
        ("connect_four(size=9)", "connect_four: rows=9 is out of range; it can be 4 to 8"),
        ("connect_four(size=six)", "connect_four: size='six' should be an integer of at most 9 digits"),
        ("connect_four(size=5,rows=6)", "connect_four: rows is given twice"),
        ("connect_four(columns=6,size=5)", "connect_four: columns is given twice"),
        ("connect_four(rows=5,rows=5)", "connect_four: rows is given twice"),
        ("connect_four(rows=(5))", "connect_four: rows='(5)' should be an integer of at most 9 digits"),
    ],
)
def test_what_is_wrong_is_named_in_one_line(text, message):
    with pytest.raises(BadInput) as error:
        make_game(text)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", ["size=1.5", "size=true", "komi=high", "komi=true", "swap=1", "swap='true'"])
def test_values_of_another_type_are_refused(sample, value):
    with pytest.raises(
        BadInput,
        match=f"^sample: {value.split('=')[0]}=.* should be (an integer of at most 9 digits|a number|true or false)$",
    ):
        make.parse_game(f"sample({value})")


@given(st.text() | st.from_regex(r"connect_four\([a-z]{0,5}=?[-0-9a-z'(\[]*,?\)?", fullmatch=True))
def test_any_text_is_a_game_or_one_line_of_bad_input(text):
    try:
        game = make_game(text)
    except BadInput as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert make_game(game.name) == game


def test_two_games_of_one_name_are_refused(sample):
    with pytest.raises(ValueError, match="two games are named 'sample'"):
        registry.game("sample")(Sample)


def test_a_game_without_parameters_is_registered_with_a_field(sample):
    class Bare(NamedTuple):
        """Rules without parameters."""

        def check(game) -> None:
            """There is nothing to refuse."""

    rules = registry.game("bare")(Bare)
    assert rules.__doc__ == "Rules without parameters." and names.name_of(make.parse_game("bare")) == "bare"
    assert len(rules()) == 1


@pytest.mark.parametrize(
    "folder", ["", "games/", "../", "/home/me/", "C:\\games\\", "C:/games/", "\\\\server\\games\\"]
)
def test_a_file_is_known_wherever_it_was_on_whatever_system(folder):
    text = f"{folder}nim.py:Nim(heap=3)"
    assert names.file_of(text) == f"{folder}nim.py" and names.without_folder(text) == "nim.py:Nim(heap=3)"
