"""Tests of the table of iterations: its width, its clock, and missing figures."""

import contextlib
import time

import pytest

from azero.runs.state import Progress
from azero.training import report
from azero.training.report import Report
from azero.training.run import Run

from .runs import tiny_config

NOTES = {
    "selfplay/mean_plies": 123.44,
    "selfplay/first_player_score": 1.0,
    "selfplay/draws": 0.083,
    "train/policy_loss": 12.3456,
    "train/value_loss": 1.0857,
    "fresh/policy_agreement": 0.144,
    "gate/score": 1.0,
    "gate/is_promoted": True,
    "gate/rating": 1064.4,
    "evaluation/score": 0.82,
    "time/play_s": 1234.2,
    "time/train_s": 123.0,
    "time/gate_s": 45.0,
    "time/iteration_s": 1402.2,
}


def table_of(tmp_path, capsys, notes, positions, elapsed_s=0.0):
    with Report(Run(tmp_path, tiny_config(), None), Progress()) as shown:
        shown._begin -= elapsed_s
        shown.iteration(1234, Progress(positions=positions), notes)
    return capsys.readouterr().out.splitlines()


def test_a_row_of_a_long_run_fits_in_100_columns(tmp_path, capsys):
    lines = table_of(tmp_path, capsys, NOTES, positions=123_456_789, elapsed_s=59_999)
    assert lines[0] == "opponent: 4 games against uct@20, with 4 simulations per move"
    assert len(lines) == 4 and max(map(len, lines)) <= 100
    *cells, minutes = lines[3].split()
    assert " ".join(cells) == "1234 123,456,789 123.4 100% 8% 12.346 1.086 14% 100% pass +1064 82% 1234+123+45"
    assert minutes.startswith(("999:", "1000:"))
    assert lines[2].endswith("time") and len(lines[2]) <= len(lines[3])


def test_a_row_has_dashes_and_blanks_for_what_there_is_none_of(tmp_path, capsys):
    absent = ("train/policy_loss", "train/value_loss", "evaluation/score")
    notes = {key: value for key, value in NOTES.items() if key not in absent} | {"gate/is_promoted": False}
    row = table_of(tmp_path, capsys, notes, positions=12)[-1]
    assert " ".join(row.split()[:-1]) == "1234 12 123.4 100% 8% - - 14% 100% +1064 1234+123+45"


@pytest.mark.parametrize(("deaths", "remark"), [(0, ""), (1, "  1 worker died"), (2, "  2 workers died")])
def test_a_row_says_that_workers_died(tmp_path, capsys, deaths, remark):
    row = table_of(tmp_path, capsys, NOTES | {"selfplay/worker_deaths": deaths}, positions=12)[-1]
    assert row.partition(":")[2][2:] == remark


@pytest.mark.parametrize(
    ("seconds", "clock"), [(0.0, "0:00"), (59.2, "0:59"), (59.5, "1:00"), (119.7, "2:00"), (3599.9, "60:00")]
)
def test_the_clock_never_shows_60_seconds(tmp_path, capsys, seconds, clock):
    assert table_of(tmp_path, capsys, NOTES, positions=12, elapsed_s=seconds)[-1].split()[-1] == clock


def test_a_progress_bar_has_the_hour_of_the_gate_and_of_the_end(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(report.time, "time", lambda: 0.0)
    monkeypatch.setattr(report.time, "localtime", time.gmtime)
    labels = []
    monkeypatch.setattr(report, "tqdm", lambda **options: labels.append(options["desc"]) or contextlib.nullcontext())
    config = tiny_config(training={"iterations": 3})
    notes = NOTES | {"time/play_s": 600, "time/train_s": 1200, "time/iteration_s": 3600}
    with Report(Run(tmp_path, config, None), Progress()) as shown:
        for iteration in (1, 2, 3):
            with shown.stage("self-play", 8, "games"):
                pass
            shown.iteration(iteration, Progress(), notes)
        with shown.stage("final", 8, "games"):
            pass
    assert labels == [
        "iteration 1/3, self-play",
        "iteration 2/3 (gate at 00:30, end about 02:00), self-play",
        "iteration 3/3 (gate at 00:30, end about 01:00), self-play",
        "iteration 4/3, final",
    ]
