"""Tests of messages on stderr: always one line, never an escape sequence, and no error if stderr is closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cases import thorough
from command_line import assert_bad_input

from azero.system.console import printable, say


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Zug für Zug, 5 ≤ 6", "Zug für Zug, 5 ≤ 6"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("half \ud800", "half \\ud800"),
        ("right to left \u202e", "right to left \\u202e"),
        ("nothing \x00", "nothing \\x00"),
    ],
)
def test_what_cannot_be_shown_is_escaped(text, shown, capsys):
    assert printable(text) == shown
    say(f"{text}\nand more")
    assert capsys.readouterr().err == f"azero: {shown} and more\n"


def test_a_very_long_message_is_shortened(capsys):
    say("x" * 100_000)
    assert len(capsys.readouterr().err) < 2100


UNEXPECTED = """
import azero.cli
def fail(words):
    raise KeyError("what \\x1b[31m")
azero.cli._call = fail
azero.cli.main()
"""


def run(code, *words, **settings):
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=100)


def test_an_unexpected_error_is_one_line_and_a_log(tmp_path):
    ended = run(UNEXPECTED, "games", AZERO_CACHE_DIR=str(tmp_path))
    (log,) = tmp_path.glob("error-*.log")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        f"azero: unexpected error, KeyError: 'what \\x1b[31m'; please report it with {log}; "
        "a run that has begun continues with --resume\n"
    )
    assert log.read_text().startswith("azero games\n\nTraceback (most recent call last):\n")
    (tmp_path / "file").touch()
    ended = run(UNEXPECTED, "games", AZERO_CACHE_DIR=str(tmp_path / "file"))
    assert ended.returncode == 2 and ended.stderr.endswith("; its log cannot be written\n")


@pytest.mark.skipif(os.name != "posix", reason="it closes streams by the shell")
@pytest.mark.parametrize("closed", ["<&- >&- 2>&-", *thorough(">&-", "2>&-")])
def test_streams_may_be_closed(closed):
    command = f"{sys.executable} -m azero.cli suggest uct@5 --game tic_tac_toe {closed}"
    assert subprocess.run(["sh", "-c", command], capture_output=True, timeout=100).returncode in (0, 1)
    refused = subprocess.run(["sh", "-c", f"{command} --top 0"], capture_output=True, timeout=100)
    assert (refused.returncode, refused.stdout) == (2, b"")


@pytest.mark.skipif(os.name != "posix", reason="it closes streams by the shell")
@pytest.mark.parametrize(
    "words", ["play uct@5 --game tic_tac_toe <&-", "evaluate random --against random --game tic_tac_toe --games 2 2>&-"]
)
def test_commands_that_read_and_show_progress_work_with_closed_streams(words):
    ended = subprocess.run(["sh", "-c", f"{sys.executable} -m azero.cli {words}"], capture_output=True, timeout=100)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_names_that_cannot_be_encoded_are_escaped(tmp_path):
    run = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(run)
    Path(os.fsdecode(run), "config.toml").write_text("")
    command = [sys.executable, "-m", "azero.cli", "check-run", run]
    ended = subprocess.run(command, env=os.environ | {"PYTHONIOENCODING": "utf-8:strict"}, capture_output=True)
    assert (ended.returncode, ended.stderr) == (1, b"") and b"\\udcff: 1 file is damaged" in ended.stdout


@pytest.mark.parametrize("words", [["train", ""], ["train", "smoke", "--run", ""], ["check-run", ""], ["suggest", ""]])
def test_an_empty_word_is_no_path(run_azero, words):
    assert_bad_input(run_azero(*words))
