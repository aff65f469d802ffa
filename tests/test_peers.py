"""Tests of the benchmark against other AlphaZeros: arithmetic and communication. No peer needs to be installed."""

import importlib
import os
from pathlib import Path

import pytest

PEERS = Path(__file__).parent.parent / "benchmarks" / "peers"
CONTESTANT = """
from serving import serve

speeds = iter([1.0, 30.0, 50.0])  # the first is to warm up

def measure(seconds):
    speed = next(speeds)
    print("what a library has to say")
    return {"simulations": speed * seconds, "evaluations": speed}

serve(measure)
"""


@pytest.fixture
def run(monkeypatch):
    monkeypatch.syspath_prepend(PEERS)
    return importlib.import_module("run")


def contestant(run, command, is_on_every_core=False):
    return run.Contestant("theirs", "alone", "", command, is_on_every_core)


def test_medians_and_ratios_of_the_same_round(run):
    ours, theirs = contestant(run, ()), contestant(run, ())
    speeds = [(100, 50), (300, 100), (200, 50)]
    rounds = [[{"simulations": each, "evaluations": each / 2} for each in pair] for pair in speeds]
    first, second = run.summarize([ours, theirs], rounds)
    assert first[2:] == (200, 100, 1, 1, 1)
    assert second[2:] == (50, 25, 3, 2, 4), "the median of the ratios is 3; the ratio of the medians is 4"
    assert run.show_table([second]).splitlines()[-1] == "| theirs | alone | 50 | 25 | 3.00 | 2.00 to 4.00 |"


def test_a_contestant_is_heard_after_it_is_warm(run, tmp_path, monkeypatch):
    (tmp_path / "theirs.py").write_text(CONTESTANT)
    monkeypatch.setenv("PYTHONPATH", str(PEERS))
    playing = run.Playing(contestant(run, (str(tmp_path / "theirs.py"),)))
    try:
        assert playing.measure(2.0) == {"simulations": 60.0, "evaluations": 30.0}
        assert playing.measure(1.0) == {"simulations": 50.0, "evaluations": 50.0}
        with pytest.raises(SystemExit, match=r"ended without an answer.*theirs\.py"):
            playing.measure(1.0)
    finally:
        playing.stop()


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="processes cannot be kept to a core here")
def test_processes_on_every_core_are_added_up(run, tmp_path, monkeypatch):
    (tmp_path / "theirs.py").write_text(CONTESTANT)
    monkeypatch.setenv("PYTHONPATH", str(PEERS))
    monkeypatch.setattr(run, "CORES", run.CORES[:1] * 3)
    playing = run.Playing(contestant(run, (str(tmp_path / "theirs.py"),), is_on_every_core=True))
    try:
        assert playing.measure(2.0) == {"simulations": 180.0, "evaluations": 90.0}
    finally:
        playing.stop()


def test_full_swing_is_between_the_first_games_and_the_last(run):
    full_swing = importlib.import_module("azero_selfplay").full_swing
    ended = [(10.0, 2), (20.0, 4), (21.0, 5), (24.0, 8), (99.0, 9), (199.0, 12)]  # 12 games, 4 at once
    assert full_swing(ended, 4) == (8 - 4) / (24.0 - 20.0)
