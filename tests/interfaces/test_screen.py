"""Tests of screens: plain streams without codes, and line editing, which prompt_toolkit's own pipe plays to."""

import io
import os
import subprocess
import sys

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.output.vt100 import Vt100_Output

from azero.interfaces.terminal.line_editor import EditingScreen
from azero.interfaces.terminal.screen import PlainScreen, open_screen

WORDS = ["a1", "b1", "hint", "help"]


def complete(typed):
    return [word for word in WORDS if word.startswith(typed)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stdin", "stdout", "variables", "kind", "is_coloured"),
    [
        (Terminal, Terminal, {"TERM": "xterm"}, EditingScreen, True),
        (Terminal, Terminal, {"TERM": "xterm", "NO_COLOR": "1"}, EditingScreen, False),
        (Terminal, Terminal, {"TERM": "xterm", "NO_COLOR": ""}, EditingScreen, True),
        (Terminal, Terminal, {"TERM": "dumb"}, PlainScreen, False),
        (io.StringIO, Terminal, {"TERM": "xterm"}, PlainScreen, False),
        (Terminal, io.StringIO, {"TERM": "xterm"}, PlainScreen, False),
    ],
)
def test_the_screen_fits_the_terminal(monkeypatch, stdin, stdout, variables, kind, is_coloured):
    monkeypatch.setattr(sys, "stdin", stdin())
    monkeypatch.setattr(sys, "stdout", stdout())
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        screen = open_screen()
    assert type(screen) is kind and screen.is_coloured is is_coloured


def test_without_a_terminal_nothing_of_the_library_is_loaded_and_there_are_no_codes():
    code = "import sys; from azero.cli import _run; _run(sys.argv[1:]); print('prompt_toolkit' in sys.modules)"
    command = [sys.executable, "-c", code]
    words = ["play", "random", "--game", "tic_tac_toe"]
    environment = {**os.environ, "TERM": "xterm-256color"}
    done = subprocess.run([*command, *words], input="a1\nQUIT\n", text=True, capture_output=True, env=environment)
    assert done.stdout.endswith("move 3, you (X): QUIT\nThe game is left unfinished.\nFalse\n")
    assert "\x1b" not in done.stdout + done.stderr and "1(X). .\n" in done.stdout


@pytest.fixture
def editing():
    """A function that types into an editing screen; it returns the lines, what was shown, and the screen."""

    def edit(keys, *times):
        shown = io.StringIO()
        output = Vt100_Output(shown, lambda: Size(rows=24, columns=80), enable_cpr=False)
        with create_pipe_input() as pipe, create_app_session(input=pipe, output=output):
            pipe.send_text(keys)
            screen = EditingScreen(is_coloured=True)
            screen.tell("\x1b[31mX\x1b[0m to move")
            lines = [screen.ask("you: ", complete, left_s) for left_s in times or (None,)]
            return lines, shown.getvalue(), screen

    return edit


LEFT, TAB = "\x1b[D", "\t"


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        ("a1\r", ["a1"]),
        (f"1{LEFT}a\r", ["a1"]),
        (f"a{TAB}\r", ["a1"]),
        (f"h{TAB}e{TAB}\r", ["help"]),
        (f"z{TAB}\r", ["z"]),
    ],
)
def test_lines_are_edited_and_completed(editing, keys, lines):
    read, shown, _ = editing(keys)
    assert read == lines and "you: " in shown and "X" in shown


def test_lines_are_kept_for_the_arrow_keys(editing):
    assert editing("a1\rb1\r", None, None)[2].history.get_strings() == ["a1", "b1"]


def test_ctrl_d_ends_and_ctrl_c_stops(editing):
    with pytest.raises(EOFError):
        editing("\x04")
    with pytest.raises(KeyboardInterrupt):
        editing("a\x03")


def test_a_line_ends_when_its_time_is_over(editing):
    read, *_ = editing("a1", 0.01)
    assert read == [""]
    read, shown, _ = editing("a1\rb1\r", 65.0, None)
    assert read == ["a1", "b1"] and "1:0" in shown and "1:0" not in shown[shown.index("\n", shown.index("a1")) :]
