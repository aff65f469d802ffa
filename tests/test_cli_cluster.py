"""Tests of --cluster in `azero evaluate`, `azero rate` and `azero lab`: the same results, whoever does the tasks."""

import json
from contextlib import contextmanager

import pytest
from arena.agents import write_checkpoint, write_engine
from arena.pools import Shuffled
from command_line import assert_bad_input

from azero.commands import evaluate, lab, rate


@pytest.fixture
def pool(monkeypatch):
    """The workers of any --cluster."""
    pool = Shuffled()

    @contextmanager
    def workers_of(cluster, device=None):
        yield pool if cluster else None

    for module in (evaluate, lab, rate):
        monkeypatch.setattr(module, "workers_of", workers_of)
    return pool


def without_times(text):
    return {key: value for key, value in json.loads(text).items() if key not in ("elapsed_s", "seconds_per_move")}


def test_a_match_on_a_cluster_is_the_match_here(run_azero, tmp_path, pool):
    net = write_checkpoint(tmp_path / "net.safetensors")
    match = "evaluate", f"{net}@9", "--against", "uct@9", "--games", 70, "--seed", 3, "--json", "--record"
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    results = [run_azero(*match, here), run_azero(*match, there, "--cluster", "x")]
    assert [code for code, *_ in results] == [0, 0] and pool.done == 3
    assert without_times(results[0][1]) == without_times(results[1][1])
    assert here.read_bytes() == there.read_bytes()


def test_ctrl_c_prints_the_finished_games(run_azero, pool, monkeypatch):
    pool.most = 2
    monkeypatch.setattr("signal.signal", lambda *given: None)
    code, output, errors = run_azero(
        "evaluate", "uct@9", "--against", "random", "--game", "tic_tac_toe", "--cluster", "x"
    )
    assert code == 130 and "stopped after 4 of 100 games" in errors and "4 games" in output


def test_ratings_on_a_cluster_are_those_here(run_azero, tmp_path, pool, monkeypatch):
    """Ctrl-C keeps the finished games of all matches that were under way."""
    net = write_checkpoint(tmp_path / "net.safetensors")
    rate = "rate", f"{net}@2", "uct@3", "random", "--games", 40, "--json", "--out"
    here, there = tmp_path / "here.json", tmp_path / "there.json"
    wanted = run_azero(*rate, here)[1]
    monkeypatch.setattr("signal.signal", lambda *given: None)
    pool.most = 6
    code, output, errors = run_azero(*rate, there, "--cluster", "x")
    num = json.loads(output)["games"]
    assert code == 130 and f"stopped after {num} games" in errors and 6 < num < 40
    pool.most = 1000
    assert json.loads(run_azero(*rate, there, "--cluster", "x")[1])["games"] == 40
    there.unlink()
    assert run_azero(*rate, there, "--cluster", "x")[1] == wanted and there.read_bytes() == here.read_bytes()


def test_solved_positions_are_searched_on_a_cluster(run_azero, tmp_path, pool):
    (tmp_path / "solved.txt").write_text("a1,b1 1\n" * 9)
    exam = "evaluate", "uct@9", "--benchmark", tmp_path / "solved.txt", "--game", "tic_tac_toe", "--json"
    here, there = (run_azero(*exam, *more) for more in ((), ("--cluster", "x")))
    assert without_times(here[1]) == without_times(there[1]) and pool.done == 9


@pytest.mark.parametrize(
    "experiment",
    [
        ("scaling", "--game", "tic_tac_toe", "--playouts", "8", "--games", "6"),
        ("pgame-failure", "--trees", "2", "--runs", "1", "--iterations", "4"),
    ],
)
def test_an_experiment_on_a_cluster_has_the_rows_of_one_here(run_azero, tmp_path, pool, experiment):
    for out, more in (("here", ("--threads", "1")), ("there", ("--cluster", "x"))):
        assert run_azero("lab", *experiment, "--out", tmp_path / out, *more)[0] == 0
    assert (tmp_path / "here" / "results.csv").read_bytes() == (tmp_path / "there" / "results.csv").read_bytes()
    assert pool.done > 0


def test_what_a_cluster_cannot_do_is_said_in_a_line(run_azero, tmp_path, pool):
    on_cluster = "--game", "tic_tac_toe", "--cluster", "local"
    match = "evaluate", "uct@9", "--against", "random", *on_cluster
    engine = write_engine(tmp_path)
    assert_bad_input(run_azero("evaluate", engine, "--against", "random", *on_cluster), "a program of this machine")
    assert_bad_input(run_azero(*match, "--clock", "1s"), "--clock measures the time of this machine")
    assert_bad_input(run_azero(*match, "--threads", 2), "--threads is for this machine")
    assert_bad_input(run_azero("rate", engine, "random", *on_cluster), "a program of this machine")
    assert_bad_input(run_azero("rate", "uct@9", "random", *on_cluster, "--threads", 2), "--threads is for this machine")
    assert_bad_input(run_azero("lab", "scaling", "--cluster", "local", "--threads", 2), "--threads is for this machine")
    assert pool.done == 0
