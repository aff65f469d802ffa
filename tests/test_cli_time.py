"""Tests of commands that take time: clocks, and analyses that report."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from command_line import assert_bad_input

GAME = ("--game", "connect_four")


def test_evaluate_with_clocks_prints_what_they_show(run_azero):
    code, output, _ = run_azero(
        "evaluate", "uct", "--against", "random", "--game", "tic_tac_toe", "--clock", "1s+0.1s", "--games", "2"
    )
    assert code == 0 and "uct: " in output and "of 1s+0.1s a game, 0 lost on time, least left" in output


def test_evaluate_with_clocks_as_json(run_azero):
    code, output, _ = run_azero(
        "evaluate", "uct", "--against", "random", "--game", "tic_tac_toe", "--clock", "1s", "--games", "1", "--json"
    )
    clock = json.loads(output)["clock"]
    assert code == 0 and list(clock) == ["control", "losses_on_time", "used_s", "least_left_s"]
    assert clock["control"] == "1s" and clock["losses_on_time"] == [0, 0] and 0 < clock["used_s"][0] < 1


@pytest.mark.parametrize("clock", ["", "0s", "-5m", "5", "inf", "999h"])
def test_a_wrong_clock_is_one_line(run_azero, clock):
    evaluate = ("evaluate", "uct", "--against", "uct", *GAME)
    for words in (evaluate, ("play", "uct", *GAME)):
        assert_bad_input(run_azero(*words, f"--clock={clock}"), f"clock {clock!r}")


def test_options_that_need_a_clock_or_have_none(run_azero):
    match = ("evaluate", "uct", "--against", "uct", *GAME)
    assert_bad_input(run_azero(*match, "--ponder"), "--ponder needs a clock")
    assert_bad_input(run_azero("play", "uct", *GAME, "--ponder"), "--ponder needs a clock")
    assert_bad_input(run_azero(*match, "--clock", "1m", "--sprt", "0,20"), "--sprt is for matches without --clock")
    benchmark = ("evaluate", "uct@5", "--benchmark", "connect_four_pons")
    assert_bad_input(run_azero(*benchmark, "--clock", "1m"), "--clock is for matches")


def test_play_with_clocks_shows_them(run_azero):
    code, output, _ = run_azero("play", "uct", *GAME, "--clock", "2s+1s", "--ponder", typed="4\nquit\n")
    assert code == 0 and "your time 0:02.0, the agent's 0:02.0" in output and "move 2, uct (O):" in output
    assert "left unfinished" in output


def test_suggest_reports_while_it_searches(run_azero):
    code, output, _ = run_azero("suggest", "uct", *GAME, "--watch", "0.1", "--time", "0.35", "--json", "--top", "1")
    reports = [json.loads(line) for line in output.splitlines()]
    assert code == 0 and len(reports) >= 3
    assert [each["simulations"] for each in reports] == sorted(each["simulations"] for each in reports)
    assert all(each["simulations_per_s"] > 0 and len(each["moves"]) == 1 for each in reports)


def test_an_agent_that_reports_once_keeps_its_limit(run_azero):
    code, output, _ = run_azero("suggest", "alphabeta@50", *GAME, "--watch", "5", "--json")
    [report] = [json.loads(line) for line in output.splitlines()]
    assert code == 0 and report["simulations"] < 10_000


def test_a_limit_without_effect_is_refused(run_azero):
    for option in (["--simulations", "5"], ["--time", "5"]):
        for command in ("suggest", "play"):
            result = run_azero(command, "random", *GAME, *option)
            assert_bad_input(result, f"{option[0]} 5", "has no effect on agent 'random'; leave it out")


def test_suggest_searches_some_moves_alone(run_azero):
    words = ("suggest", "uct@500", *GAME, "--json")
    _, output, _ = run_azero(*words, "--allow", "23")
    assert {move["move"] for move in json.loads(output)["moves"]} == {"2", "3"}
    _, output, _ = run_azero(*words, "--avoid", "4")
    assert {move["move"] for move in json.loads(output)["moves"]} == set("123567")
    _, output, _ = run_azero(*words, "--allow", "4")
    found = json.loads(output)
    assert found["best"] == "4" and found["simulations"] == 500
    assert_bad_input(run_azero(*words, "--avoid", "1234567"), "no move is left")
    assert_bad_input(run_azero(*words, "--allow", "8"), "'8' is not a move")
    assert_bad_input(run_azero("suggest", "random", *GAME, "--avoid", "4"), "cannot leave out moves")


def test_a_wrong_interval_or_memory_is_one_line(run_azero):
    for watch in ("0", "-1", "nan", "inf"):
        assert_bad_input(run_azero("suggest", "uct", *GAME, "--watch", watch), "interval = ")
    assert_bad_input(run_azero("suggest", "uct", *GAME, "--watch", "1", "--memory", "0"), "memory_mib = 0 should be")


@pytest.mark.skipif(os.name != "posix", reason="it sends SIGINT")
def test_ctrl_c_ends_an_analysis_with_a_last_report():
    command = [sys.executable, "-c", "import azero.cli; azero.cli.main()", "suggest", "uct", *GAME]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*command, "--watch", "30", "--json"], text=True, **pipes) as process:
        first = json.loads(process.stdout.readline())
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and errors == ""
    assert json.loads(output)["simulations"] > first["simulations"]
