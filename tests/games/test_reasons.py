"""Tests of errors and values in messages: in one line, with file, method and line of a user's rules that raise late."""

import inspect
import sys
import traceback

import numpy as np
import pytest

from azero import cli
from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput, BrokenRules
from azero.games import make_game, state
from azero.games.reasons import failure_of, failures_named, place_of, reason_of, short

from .user_games import NIM, write_file

pytestmark = pytest.mark.usefixtures("folder")

TAKE = "        state.left -= action + 1\n"
LATE = (TAKE, f"        if state.ply == 24:\n            raise ValueError('oops')\n{TAKE}")
"""The first look at Nim with a heap of 36 does not get so far."""

HELPER = "@subroutine\ndef take(action, ply):\n    assert ply != 24\n    return action + 1\n"
MESSAGE = "late.py:Nim.apply_action fails, line 27: ValueError: oops"
LONG, SHORT = "Nim(heap=36)", "Nim(heap=4)"


def error_of(name: str) -> Exception:
    """Returns the error that a game raises at ply 24."""
    state = make_game(name).new_initial_state()
    with pytest.raises(BrokenRules) as error:
        for _ in range(25):
            state.apply_action(0)
    cause = error.value.__cause__
    assert isinstance(cause, Exception)
    return cause


def error_at(file: str, error: Exception) -> Exception:
    """Returns an error after a function `apply_action` of some file has raised it in line 27, as the rules do."""
    names: dict = {"error": error}
    exec(compile("\n" * 25 + "def apply_action():\n    raise error", file, "exec"), names)
    with pytest.raises(type(error)) as raised:
        names["apply_action"]()
    assert [frame.lineno for frame in traceback.extract_tb(raised.value.__traceback__)][-1] == 27
    return raised.value


def test_a_method_is_named_with_its_file_and_line(folder):
    write_file(folder / "late.py", NIM, LATE)
    error = error_of(f"late.py:{LONG}")
    assert str(failure_of(error)) == MESSAGE
    with pytest.raises(BrokenRules, match=f"^{MESSAGE}$"), failures_named():
        raise error


def test_a_method_of_an_edited_file_is_named(folder):
    """Numba reads the name from the file's text, of which Python may remember an old version."""
    for changes in ([("class Nim", "\n\n\n\n\nclass Nim")], []):
        write_file(folder / "late.py", NIM, *changes, LATE)
        error = error_of(f"late.py:{LONG}")
        assert str(failure_of(error)) == MESSAGE.replace("27", "32" if changes else "27")


def test_functions_of_the_file_and_of_its_modules_are_named(folder):
    call = ("-= action + 1", "-= take(action, state.ply)")
    imports = ("import numpy as np", "import numpy as np; from azero.authoring import subroutine")
    write_file(folder / "own.py", NIM, imports, ("class Nim", f"{HELPER}\n\nclass Nim"), call)
    assert str(failure_of(error_of(f"own.py:{LONG}"))) == "own.py:take fails, line 12: AssertionError"
    (folder / "helpers.py").write_text(f"from azero.authoring import subroutine\n{HELPER}")
    write_file(folder / "late.py", NIM, ("import numpy as np", "import numpy as np; from helpers import take"), call)
    assert str(failure_of(error_of(f"late.py:{LONG}"))) == "helpers.py:take fails, line 4: AssertionError"


def test_code_from_the_cache_may_have_another_path(folder):
    """The file was compiled at another place, and has been moved since."""
    write_file(folder / "late.py", NIM, LATE)
    make_game(f"late.py:{SHORT}")
    assert str(failure_of(error_at("/elsewhere/old.py", ValueError("oops")))) == MESSAGE


def test_errors_of_other_code_are_not_changed(folder):
    write_file(folder / "late.py", NIM, LATE)
    game = make_game(f"late.py:{SHORT}")
    with pytest.raises(TypeError) as error:
        game.new_initial_state().apply_action(0, 1)
    assert failure_of(error.value) is None
    for file in (state.__file__, inspect.__file__, np.__file__, "/lib/site-packages/more.py", __file__, "<string>"):
        assert failure_of(error_at(file, ValueError("oops"))) is None, file
    with pytest.raises(KeyError), failures_named():
        raise KeyError


def test_errors_of_one_line_are_not_changed(folder):
    file = write_file(folder / "late.py", NIM, LATE)
    make_game(f"late.py:{SHORT}")
    for error in (BadInput("action 99 is not legal here"), BrokenRules("max_plies is too small")):
        assert failure_of(error_at(str(file), error)) is None


def test_of_two_games_the_one_in_the_file_is_named(folder):
    """Both files have the same method in the same lines."""
    file = write_file(folder / "late.py", NIM, LATE)
    make_game(f"late.py:{SHORT}")
    write_file(folder / "other.py", NIM, LATE, ("import numpy as np", "import numpy as np  # another file"))
    make_game(f"other.py:{SHORT}")
    assert str(failure_of(error_at(str(file), ValueError("oops")))) == MESSAGE
    other = error_at(str(folder / "other.py"), ValueError("oops"))
    assert str(failure_of(other)) == MESSAGE.replace("late", "other")


@pytest.fixture
def run(monkeypatch, capsys):
    """Returns a function that runs a command; it returns the exit code and stderr, without notes and progress."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["azero", *words])
        monkeypatch.setattr("builtins.input", lambda prompt: "0")
        code = cli.run()
        lines = capsys.readouterr().err.replace("\r", "\n").splitlines()
        return code, [line for line in lines if line.startswith("azero: ") and "compiling" not in line]

    return run


FAILED = (2, [f"azero: {MESSAGE}; azero check-game finds errors in rules"])


@pytest.mark.parametrize(
    "words",
    [
        ("suggest", "uct@200000"),
        pytest.param(("evaluate", "uct@5000", "--against", "random"), marks=pytest.mark.thorough),
        pytest.param(("play", "uct@200000", "--second"), marks=pytest.mark.thorough),
    ],
    ids=" ".join,
)
@pytest.mark.skipif(not IS_COMPILED, reason="too slow in plain Python")
def test_commands_report_rules_that_raise_late_in_one_line(folder, run, words):
    write_file(folder / "late.py", NIM, LATE)
    assert run(*words, "--game", f"late.py:{LONG}") == FAILED


CONFIG = """
[game]
name = "late.py:Nim(heap=36)"
[net]
blocks = 1
channels = 8
[selfplay]
games_per_iteration = 200
games_per_shard = 50
num_simulations = 4
[replay]
window = 4000
[training]
iterations = 1
[gate]
games = 4
num_simulations = 4
"""


@pytest.mark.long
@pytest.mark.parametrize("num_workers", [1, 2])
def test_training_ends_in_one_line_and_can_be_resumed(folder, run, num_workers):
    write_file(folder / "late.py", NIM, LATE)
    (folder / "late.toml").write_text(CONFIG)
    assert run("train", "late.toml", "--run", "run", "--set", f"selfplay.num_workers={num_workers}") == FAILED
    write_file(folder / "late.py", NIM)
    code, _ = run("train", "late.toml", "--run", "run", "--resume")
    assert code == 0 and (folder / "run" / "best.safetensors").exists()


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
