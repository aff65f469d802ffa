"""Tests of the methods that are never compiled: their errors and wrong results are reported in one line."""

import pytest

from azero.errors import BadInput
from azero.games import make_game

from .user_games import NIM, added, write_file

pytestmark = pytest.mark.usefixtures("folder", "uncompiled")

PLACES = "it should be Places(planes, slots, numbers), two counts and int32 [A]"
TABLES = "it should be Symmetries(cells, actions), int32 [S, H * W] and int32 [S, A]"
BAD_INPUT = "for text that is no move it should raise azero.authoring.BadInput"
TEXT_TO_ACTION = "text_to_action(game, state, text)"


def refusal(folder, method: str, body: str) -> str:
    """Returns the message for Nim with one more method."""
    write_file(folder / "nim.py", NIM, added(f"{method}:\n        {body}"))
    with pytest.raises(BadInput) as error:
        make_game("nim.py:Nim")
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


@pytest.mark.parametrize(
    ("method", "body", "message"),
    [
        ("action_to_text(game, state, action)", "return action", "returns 0; it should be text"),
        ("action_to_text(game, state, action)", "return [][0]", "fails, line 16: IndexError: list index out of range"),
        (TEXT_TO_ACTION, "return text", f"returns '0'; it should be the number of an action; {BAD_INPUT}"),
        (TEXT_TO_ACTION, "return {}[text]", f"fails, line 16: KeyError: '0'; {BAD_INPUT}"),
        ("split_moves(game, text)", "return text", "returns ''; it should be a list of texts"),
        ("draw(game, state, marks)", "return 1 / 0", "fails, line 16: ZeroDivisionError: division by zero"),
        ("symmetries(game)", "return [[0]], [[0, 1, 2]]", f"returns ([[0]], [[0, 1, 2]]); {TABLES}"),
        ("symmetries(game)", "return (np.zeros((1, 21)),)", f"returns float64 [1, 21]; {TABLES}"),
        (
            "symmetries(game)",
            "return np.zeros((1, 21), object), np.zeros((1, 3), np.int32)",
            f"returns object [1, 21] and int32 [1, 3]; {TABLES}",
        ),
        ("places(game)", "return 1, 0, [0, 1, 2]", f"returns (1, 0, [0, 1, 2]); {PLACES}"),
        ("places(game)", "return 1, -1, np.arange(3, dtype=np.int32)", "returns (1, -1, array([0, 1, 2]"),
        ("ranges(game)", "return {'heap': np.int64(7)}", "returns {'heap': 7}; it should be pairs by name, e.g. {"),
    ],
)
def test_each_method_is_called_when_a_game_is_loaded(folder, method, body, message):
    assert refusal(folder, method, body).startswith(f"nim.py:Nim.{method.partition('(')[0]} {message}")


@pytest.mark.parametrize(("value", "shown"), [("999", "999"), ("3", "3"), ("-1", "-1"), ("np.int64(999)", "999")])
def test_text_is_read_as_an_action_that_exists(folder, value, shown):
    right = "it should be the number of an action, from 0 to 2"
    message = f"nim.py:Nim.text_to_action returns {shown} for '0'; {right}; {BAD_INPUT}"
    assert refusal(folder, TEXT_TO_ACTION, f"return {value}") == message


def test_text_is_shown_if_it_is_given_by_keyword(folder):
    body = "return 99 if text == 'b2' else int(text)"
    write_file(folder / "nim.py", NIM, added(f"{TEXT_TO_ACTION}:\n        {body}"))
    rules = make_game("nim.py:Nim").rules
    with pytest.raises(BadInput, match="text_to_action returns 99 for 'b2'; it should be"):
        rules.text_to_action(text="b2", state="STATE")


def test_text_that_is_no_move_has_the_message_of_the_rules(folder):
    body = "if text not in '012': raise BadInput(f'{text!r} is not a number')\n        return int(text)"
    imports = ("LOSS, ONGOING", "BadInput, LOSS, ONGOING")
    write_file(folder / "nim.py", NIM, imports, added(f"{TEXT_TO_ACTION}:\n        {body}"))
    game = make_game("nim.py:Nim")
    with pytest.raises(BadInput, match="^move 1: 'x' is not a number$"):
        game.state_from_moves("x")
    assert game.rules.text_to_action(state=game.new_initial_state().record, text="2") == 2


def test_a_method_may_be_a_lambda(folder):
    draw = "    draw = lambda game, state, marks: 'a heap'\n\n"
    write_file(folder / "nim.py", NIM, ("    def reset(", f"{draw}    def reset("))
    assert str(make_game("nim.py:Nim").new_initial_state()) == "a heap"


def test_ranges_may_have_numpy_s_numbers(folder):
    write_file(folder / "nim.py", NIM, added("ranges(game):\n        return {'heap': (np.int64(1), 30)}"))
    with pytest.raises(BadInput, match="^Nim: heap=31 is out of range; it can be 1 to 30$"):
        make_game("nim.py:Nim(heap=31)")
