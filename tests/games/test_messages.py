"""Tests of mistakes in the text of rules, found by line or by method, without compilation."""

import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games.user.messages import find_mistake

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")

SOURCE = """
import enum
from typing import NamedTuple
import numpy as np
from azero.authoring import low_bits, subroutine

class Side(enum.IntEnum):
    UP = 1

STEPS, TABLE, NAMES = [1, 2], np.array([1, 2]), {{1: 2}}
ROWS = np.array([[1], [2, 3]], object)

def plain(x):
    return x

@subroutine
def part(state):
    return {part}

class Mine(NamedTuple):
    size: int = 3
    WORDS = (1, 2)
    num_actions = property(lambda game: 3)
    state_dtype = np.dtype([("board", np.int8, (9,)), ("ply", np.int8)])

    def take(game, x):
        return x

    def reset(game, state):
        state.ply = 0

    def outcome(game, state):
        {line}
        return part(state)
"""
LINE, PART = (SOURCE.splitlines().index(each) + 1 for each in ("        {line}", "    return {part}"))


def mistake(tmp_path, text="pass", part="1", source=SOURCE, **named):
    """Returns the mistake found in a game with this text in `outcome`, and this value of a subroutine."""
    file = tmp_path / "mine.py"
    file.write_text(source.format(line=text, part=part))
    namespace = {"__name__": "mine"}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    given = {"method": "outcome", "line": None, "is_of_memory": False, **named}
    return find_mistake(str(file), namespace["Mine"](), **given)


MEMORY = [
    ("x = [k for k in range(3)]", "[k for k in range(3)] makes a list: write a loop"),
    ("x = sum(k for k in range(3))", "(k for k in range(3)) makes a generator: write a loop"),
    ("x = max([1, 2])", "[1, 2] makes a list: write a tuple, (1, 2)"),
    ("x = {1, 2}", "{1, 2} makes a set: write a tuple, (1, 2)"),
    ("x = {1: 2}", "{1: 2} makes a dict: write a tuple, or np.array(...) outside the class"),
    ("x = f'{state.ply}'", "f'{state.ply}' makes text: rules can use numbers only"),
    ("x = str(1)", "str(1) makes text: rules can use numbers only"),
    ("x = sorted((2, 1))", "sorted((2, 1)) makes a list: write a loop"),
    ("x = hash(tuple(state.board))", "tuple(state.board) makes a tuple whose length the compiler does not know"),
    (
        "x = np.zeros(3)",
        "np.zeros(3) allocates an array, bytes or a list: write a loop, or keep it in the state",
    ),
    ("x = state.board.copy()", "state.board.copy() allocates"),
    ("x = state.board + 1", "state.board + 1 makes an array: loop over its cells"),
    ("x = 1 - state.board[1:3]", "1 - state.board[1:3] makes an array: loop over its cells"),
    ("x = state.board == 1", "state.board == 1 makes an array: loop over its cells"),
]


@pytest.mark.parametrize(("line", "what"), MEMORY)
def test_what_takes_memory_is_found_without_a_line_too(tmp_path, line, what):
    for named in ({}, {"line": LINE}, {"is_of_memory": True}, {"method": "", "is_of_memory": True}):
        found = mistake(tmp_path, line, **named)
        assert found.what.startswith(what) and found[1:] == (LINE, "outcome")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("with open('x') as f: pass", "with open('x') as f: the compiler does not support this in a method"),
        ("try: pass\n        except ValueError: pass", "the compiler does not support `try` here: test with `if`"),
        ("import math", "import math: the compiler does not support this in a method: write it in a simpler way"),
        ("if (x := 1): pass", "(x := 1): the compiler does not support this in a method"),
        ("state.board = 0", "state.board = 0 assigns a whole array: write state.board[:] = ..."),
        ("x = 1; del x", "del x: the compiler does not support this in a method"),
        ("a, *b = (1, 2)", "*b: the compiler does not support this in a method"),
        ("x = max((1, 2), key=lambda k: -k)", "lambda k: -k is a function in a function: write your own functions"),
        ("x = STEPS[0]", "STEPS is a list: write a tuple, or np.array(...) outside the class"),
        ("x = ROWS[0]", "ROWS is an array of dtype object: give it a dtype of numbers, e.g. np.int64"),
        ("x = game.take(1)", "take is neither a parameter nor a compiled method of game: write your own functions"),
        ("x = NAMES[1]", "NAMES is a dict: write a tuple, or np.array(...) outside the class"),
        ("x = plain(1)", "plain is a function of plain Python: write your own functions outside the class, with"),
        ("x = game.num_actions", "game.num_actions is a property, which is never compiled: compute it from the"),
        ("x = low_bits(game.num_actions)", "game.num_actions is a property, which is never compiled: compute it from"),
        ("x = game.WORDS[0]", "game.WORDS is not a parameter: write it outside the class"),
        ("x = Mine.WORDS[0]", "Mine.WORDS is not a parameter: write it outside the class"),
    ],
)
def test_what_only_plain_python_knows_is_found_at_its_line(tmp_path, line, what):
    found = mistake(tmp_path, line, line=LINE)
    assert found.what.startswith(what) and found.line == LINE
    assert mistake(tmp_path, line, line=LINE, is_of_memory=True) is None


@pytest.mark.parametrize("line", ["x = TABLE[0]", "x = Side.UP", "x = game.size", "x = state.board[1] + state.ply"])
def test_what_is_right_is_not_blamed(tmp_path, line):
    assert mistake(tmp_path, line) is None


def test_the_game_may_go_by_another_name(tmp_path):
    assert mistake(tmp_path, part="state.num_actions").what.startswith("state.num_actions is a property")


def test_a_subroutine_is_looked_through_for_its_caller(tmp_path):
    assert mistake(tmp_path, part="[1]").line == PART and mistake(tmp_path, part="[1]", line=LINE) is None
    assert mistake(tmp_path, part="part(state)", line=PART) == ("part calls itself: write a loop", PART, "part")


def test_a_method_that_can_end_without_a_value_is_found(tmp_path):
    end = "it can end without returning a value: write a `return` at its end"
    source = SOURCE.replace("return {part}", "{part}")

    def found(part: str):
        return mistake(tmp_path, part=part, source=source)

    assert found("if state:\n        return 2\n    x = 3") == (end, PART - 1, "part")
    for body in (
        "for k in range(3):\n        return 2",
        "while True:\n        if state: break\n        return 2",
        "for k in range(3):\n        if state: break\n    else:\n        return 2",
        "while True:\n        for k in range(3):\n            if state: return 2\n        else:\n            break",
    ):
        assert found(body).what == end
    for ends in (
        "if state:\n        return 2\n    else:\n        raise ValueError",
        "match state:\n        case _:\n            return 3",
        "while 1:\n        pass",
        "while True:\n        for k in range(3):\n            if state: break\n        if state: return 2",
        "for k in range(3):\n        if state: return 2\n    else:\n        return 0",
    ):
        assert found(ends) is None
