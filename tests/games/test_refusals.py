"""Tests of what the games refuse in one line: text that is no move, and parameters out of range."""

import pytest

from azero.errors import BadInput
from azero.games import make_game, registered_games

NUMBERS = ["", "a", "1a", "a0", "5", "a\u0661"]
"""Texts that name no cell on any board."""

HER, ITS, SHOT = "an amazon's cell, e.g. d1", "her new cell, e.g. -d7", "the arrow's cell, e.g. /g7"

NO_MOVES = [
    *(
        ("amazons", before, texts, f"is not a move of amazons here; the next action is {what}")
        for before, texts, what in [
            ("", ["", "d", "-d1", "/d1", "d0", "d11", "k1", "d1-d7/g7", "d\u0661", "pass"], HER),
            ("d1", ["", "-", "/d7", "--d7", "-d11", "-k7", "d1-d7"], ITS),
            ("d1-d7", ["", "/", "-g7", "//g7", "/g11", "pass"], SHOT),
        ]
    ),
    *(
        ("breakthrough", before, texts, "is not a move of breakthrough here; moves go forward, e.g. a2-a3, b4xa3")
        for before, texts in [
            (
                "",
                ["", "a2", "a2-", "a2-a4", "a2-c3", "a2-b2", "a3-a2", "h2-i3", "a8-a9", "a1-a0", "a\u0662-a3", "pass"],
            ),
            ("a2-a3", ["a2-a3"]),
        ]
    ),
    (
        "clobber",
        "",
        ["", "a1", "a1b", "a1a1", "a1b2", "a1a3", "h8i8", "a8a9", "a0a1", "a1xb1", "a\u0661a2", "pass"],
        "is not a move of clobber; moves go from a cell to a neighbour, e.g. a1a2",
    ),
    (
        "connect_four",
        "",
        ["", "0", "8", "44", "-1", "x", "\u0663", "1 "],
        "is not a move of connect_four; moves are columns 1 to 7",
    ),
    (
        "go(size=9)",
        "",
        ["", "d", "4d", "d0", "d10", "i5", "k1", "d\u0664", "resign", "d4 "],
        "is not a move of go; moves are a1 (bottom left) to j9, without i, and pass",
    ),
    (
        "gomoku(rows=3,columns=5,k=3)",
        "",
        [*NUMBERS, "a4", "f1", "a11", "pass"],
        "is not a move of gomoku; moves are a1 (bottom left) to e3",
    ),
    (
        "hex(size=11)",
        "",
        [*NUMBERS, "a12", "l1", "a111", "swap", "pass"],
        "is not a move of hex; moves are a1 (top left) to k11",
    ),
    (
        "othello",
        "",
        [*NUMBERS, "a9", "i1", "a11", "passe", "-"],
        "is not a move of othello; moves are a1 (top left) to h8, and pass",
    ),
    (
        "p_game(branching=12)",
        "",
        ["", "12", "-1", "a", "01", "1 ", "\u0663"],
        "is not a move of p_game; moves are 0 to 11",
    ),
    (
        "tic_tac_toe",
        "",
        [*NUMBERS, "a4", "d1", "a11", "pass"],
        "is not a move of tic_tac_toe; moves are a1 (top left) to c3",
    ),
]


def test_every_game_is_here():
    assert {name.partition("(")[0] for name, *_ in NO_MOVES} == set(registered_games())


@pytest.mark.parametrize(
    ("name", "before", "text", "message"),
    [(name, before, text, message) for name, before, texts, message in NO_MOVES for text in texts],
)
def test_text_that_is_no_move_is_named(name, before, text, message):
    state = make_game(name).state_from_moves(before)
    with pytest.raises(BadInput) as error:
        state.game.text_to_action(state, text)
    assert str(error.value) == f"{text!r} {message}"


OUT_OF_RANGE = [
    ("amazons", ["rows=3", "rows=11", "columns=0", "columns=-4", "rows=4,columns=11"], "4 to 10"),
    ("breakthrough", ["rows=2", "rows=11"], "3 to 10"),
    ("breakthrough", ["columns=1", "columns=-2", "rows=3,columns=11"], "2 to 10"),
    ("clobber", ["rows=1", "rows=11", "columns=0", "columns=-2", "rows=3,columns=11"], "2 to 10"),
    ("connect_four", ["rows=3", "rows=9", "columns=0", "columns=-7", "rows=6,columns=9"], "4 to 8"),
    ("go", ["size=1", "size=20", "size=-9"], "2 to 19"),
    ("go", ["max_game_length=-1", "max_game_length=100001"], "0 to 100000"),
    ("go", ["komi=361.5", "size=3,komi=-362.0"], "-361 to 361"),
    ("gomoku", ["rows=0", "rows=21", "columns=-1", "columns=21", "k=0", "k=21"], "1 to 20"),
    ("hex", ["size=-1", "size=0", "size=1", "size=20", "size=100"], "2 to 19"),
    ("othello", ["size=-8", "size=0", "size=2", "size=3", "size=17", "size=18"], "4 to 16"),
    ("p_game", ["branching=0", "branching=1001", "depth=0", "depth=1001"], "1 to 1000"),
    ("p_game", ["seed=-1"], "0 to 999999999"),
]

OTHERS = [
    ("go", "komi=nan", "komi='nan' should be a number"),
    ("gomoku", "k=16", "k=16 in a row do not fit on a board of 15x15; k can be 1 to 15, e.g. k=15"),
    ("gomoku", "rows=3,columns=4", "k=5 in a row do not fit on a board of 3x4; k can be 1 to 4, e.g. k=4"),
    ("gomoku", "exact=1", "exact='1' should be true or false"),
    ("othello", "size=5", "size=5 should be an even number from 4 to 16"),
    ("othello", "size=15", "size=15 should be an even number from 4 to 16"),
    ("p_game", "seed=1.5", "seed='1.5' should be an integer of at most 9 digits"),
]


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        *(
            (name, each, f"{each.split(',')[-1]} is out of range; it can be {bounds}")
            for name, several, bounds in OUT_OF_RANGE
            for each in several
        ),
        *OTHERS,
    ],
)
def test_parameters_that_are_not_valid_are_named(name, parameters, message):
    with pytest.raises(BadInput) as error:
        make_game(f"{name}({parameters})")
    assert str(error.value) == f"{name}: {message}"
