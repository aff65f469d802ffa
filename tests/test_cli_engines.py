"""Tests of the commands that make azero an engine: as processes, with what goes wrong around them."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest
from command_line import assert_bad_input

TTT = ["--game", "tic_tac_toe"]
STARTS = {
    "gtp": (["gtp", "uct@50", *TTT], "name\ngenmove b\nquit\n", r"= azero\n\n= [A-C][1-3]\n\n= \n\n"),
    "uci": (["uci", "uct@50", *TTT], "uci\ngo nodes 20\n", r"id name (?s:.*)uciok\n(info .*\n)*bestmove P@\S+.*\n"),
    "gomocup": (
        ["gomocup", "uct@50"],
        "START 6\nBEGIN\nEND\n",
        r"(MESSAGE azero: .*\n)*OK\n(MESSAGE azero: .*\n)*\d,\d\n",
    ),
    "analysis": (["analysis", "uct@50", *TTT], '{"id":"a","moves":[]}\n', r'\{"id": "a".*\n'),
}


def start(*words, **more):
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "azero.cli", *words]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, **more)


@pytest.mark.parametrize("name", STARTS)
def test_a_script_on_stdin_is_answered_without_torch(name, tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('an agent without a net needs no torch')")
    words, typed, form = STARTS[name]
    log = tmp_path / "log"
    process = start(*words, "--log", str(log), env={**os.environ, "PYTHONPATH": str(tmp_path)})
    output, errors = process.communicate(typed, timeout=300)
    assert process.returncode == 0 and re.fullmatch(form, output), (output, errors)
    assert "Traceback" not in errors
    lines = [line[11:] for line in log.read_text().splitlines()]
    assert lines[0].startswith("# begins at ") and f"< {typed.splitlines()[0]}" in lines
    assert [line[2:] for line in lines if line.startswith("> ")] == output.splitlines()


@pytest.mark.parametrize("name", STARTS)
def test_ctrl_c_and_a_controller_that_goes_away_end_it(name):
    if os.name != "posix":
        pytest.skip("it sends SIGINT")
    for ending in ("Ctrl-C", "goes away"):
        process = start(*STARTS[name][0])
        process.stdin.write(STARTS[name][1].splitlines()[0] + "\n")
        process.stdin.flush()
        assert process.stdout.readline()
        begin = time.perf_counter()
        if ending == "Ctrl-C":
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130 and process.stderr.read() == "azero: stopped\n"
        else:
            process.stdout.close()
            process.stdin.write(STARTS[name][1])
            process.stdin.close()
            process.wait(30)
            assert "Traceback" not in process.stderr.read()
        assert time.perf_counter() - begin < 5.0
        process.stdin.close() if not process.stdin.closed else None
        process.stdout.close()
        process.stderr.close()


@pytest.mark.parametrize("name", STARTS)
def test_help_ends_with_the_line_for_the_program(run_azero, name):
    code, output, _ = run_azero(name, "uct@9", "--game", "go(size=9)", "--help")
    assert code == 0 and output.splitlines()[-1].endswith(f" {name} uct@9 --game 'go(size=9)'")


def test_katagos_arguments_are_taken(run_azero):
    words = ["-config", "a.cfg", "-model", "b.bin.gz", "-analysis-threads", "4", "-quit-without-waiting"]
    code, output, errors = run_azero("analysis", "uct@20", *TTT, *words, typed='{"id":"v","action":"query_version"}\n')
    assert code == 0 and output.startswith('{"id": "v", "action": "query_version"')
    assert errors == "azero: -config, -model, -analysis-threads: KataGo's own, without effect here\n"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["gtp", "uct"], ["can play any game", "--game"]),
        (["gtp", "connect_for"], ["unknown agent 'connect_for'"]),
        (["gtp", "uct", *TTT, "--log", "no/such"], ["there is no folder 'no'"]),
        (["uci", "uct", "--game", "go"], ["go is no variant of Fairy-Stockfish"]),
        (["gomocup", "uct", "--game", "hex"], ["is for gomoku, not hex"]),
        (["--data-only", "gtp", "gtp:touch ran", *TTT], ["does not run with --data-only"]),
        (["analysis", "uct", *TTT, "-model"], ["-model"]),
    ],
)
def test_bad_input(run_azero, monkeypatch, words, parts):
    monkeypatch.setenv("AZERO_DATA_ONLY", "0")  # the option sets it
    assert_bad_input(run_azero(*words), *parts)
