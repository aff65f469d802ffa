"""Tests of folders that are damaged, or made to do harm: one JSON error, or one line, and the server stays up."""

import json
import os
import shutil
import time
from urllib.parse import quote

import pytest

from azero.runs.settings import write_settings
from tests.interfaces.web.runs.conftest import serving
from tests.training.runs import tiny_config

ROW = {"iteration": 1, "gate/rating": 5.0}


@pytest.fixture
def served(run):
    with serving(run) as client:
        yield client


def flip(path):
    """Changes the last byte of a file."""
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def write_rows(run, *lines):
    (run / "metrics.jsonl").write_bytes(b"\n".join(lines))


@pytest.mark.parametrize(
    "line",
    [
        b'{"iteration": 2, "gate/rat',
        b'{"iteration": true}',
        b'{"iteration": 1e3}',
        b'{"iteration": -1}',
        b'{"iteration": 99999999999999999999}',
        b"[" * 100_000,
        b"\x00\xff\xfe binary",
        b"[1]",
        b'{"x": 1}',
        json.dumps({"iteration": 2, **{str(k): k for k in range(1000)}}).encode(),
    ],
)
def test_a_broken_line_is_left_out(run, served, line):
    write_rows(run, json.dumps(ROW).encode(), line)
    assert served.look("runs/tiny/metrics")["rows"] == [ROW]


def test_values_that_json_lacks_are_null(run, served):
    line = (
        b'{"iteration": 1, "a": NaN, "b": -Infinity, "c": [1], "d": {"e": 1}, "f": "\\ud800", "g": 1'
        + b"0" * 400
        + b"}"
    )
    write_rows(run, line)
    (row,) = served.look("runs/tiny/metrics")["rows"]
    assert row == {"iteration": 1, "a": None, "b": None, "c": None, "d": None, "f": "?", "g": None}


def test_lines_of_iterations_that_are_not_later_are_left_out(run, served):
    write_rows(run, *(json.dumps({"iteration": k}).encode() for k in (1, 3, 2, 3, 4)))
    assert [row["iteration"] for row in served.look("runs/tiny/metrics")["rows"]] == [1, 3, 4]


def test_metrics_that_are_too_large_are_refused(run, served):
    with open(run / "metrics.jsonl", "wb") as file:
        file.truncate(1 << 30)
    assert "16,777,216" in served.look("runs/tiny/metrics", 409)["error"]["message"]
    assert "16,777,216" in served.look("runs")[0]["problem"]


@pytest.mark.parametrize("name", ["metrics.jsonl", "config.toml"])
def test_files_that_are_links_are_not_read(run, served, tmp_path, name):
    shutil.move(run / name, tmp_path / name)
    (run / name).symlink_to(tmp_path / name)
    assert "regular file" in served.look("runs/tiny/metrics", 409)["error"]["message"]


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_games_and_nets_that_are_links_are_not_read(run, served, tmp_path, kind):
    for name in ("replay", "checkpoints"):
        shutil.move(run / name, tmp_path / name)
        if kind == "folder":
            (run / name).symlink_to(tmp_path / name)
        else:
            (run / name).mkdir()
            for path in (tmp_path / name).iterdir():
                (run / name / path.name).symlink_to(path)
    assert served.look("runs/tiny/games")["games"] == [] and served.look("runs/tiny/metrics")["nets"] == []
    served.look("runs/tiny/games/3.0.1", 404)
    served.ask("suggestions", 404, agent="run:tiny:0", game="tic_tac_toe")
    assert served.ask("runs/tiny/opinions")["opinions"] == []


def test_a_pipe_is_not_opened(run, served):
    (run / "metrics.jsonl").unlink()
    os.mkfifo(run / "metrics.jsonl")
    assert served.look("runs/tiny/metrics", 409)


def test_damaged_games_are_left_out_with_a_line(run, served):
    first, *_, last = sorted((run / "replay").iterdir())
    flip(last)
    first.write_bytes(b"\x80 a pickle")
    found = served.look("runs/tiny/games?limit=200")
    assert len(found["problems"]) == 2 and "damaged" in found["problems"][0] and "pickle" in found["problems"][1]
    assert found["games"]
    iteration, shard = (int(part) for part in last.stem.split("-"))
    assert served.look(f"runs/tiny/games/{iteration}.{shard}.1", 409)["error"]["code"] == "bad_run"


def test_damaged_nets_are_left_out_with_a_line(run, served):
    last = max((run / "checkpoints").glob("[0-9]*"))
    flip(last)
    found = served.ask("runs/tiny/opinions", moves="")
    assert found["problems"] and all(each["iteration"] != int(last.stem) for each in found["opinions"])
    served.ask("suggestions", 422, agent=f"run:tiny:{int(last.stem)}", game="tic_tac_toe", simulations=2)


def test_a_game_without_its_net_has_no_prior(run, served):
    shutil.rmtree(run / "checkpoints")
    found = served.look(f"runs/tiny/games/{served.look('runs/tiny/games')['games'][0]['id']}")
    assert found["net"] is None and "not in the run" in found["net_problem"]
    assert all(ply["prior"] is None and ply["value"] is not None for ply in found["plies"])


@pytest.mark.parametrize("name", ["best.safetensors", "config.toml", "metrics.jsonl", "replay", "checkpoints"])
def test_what_vanishes_while_the_server_runs_is_no_error_of_the_server(run, served, name):
    path = run / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    for route in ("runs", "agents", "runs/tiny/metrics", "runs/tiny/games", "runs/tiny/games/3.0.1"):
        assert served.get(f"/api/v1/{route}").status_code < 500
    assert served.post("/api/v1/runs/tiny/opinions", json={"moves": ""}).status_code < 500


def test_a_run_that_cannot_be_read_does_not_hide_the_others(run, trained, tmp_path):
    text = (run / "config.toml").read_text()
    (run / "config.toml").write_text(text.replace('name = "tic_tac_toe"', "name = 3"))
    (run / "best.safetensors").write_bytes(b"")
    with serving(trained, run) as client:
        problems = [each["problem"] for each in client.look("runs")]
        assert problems[0] is None and "game.name" in problems[1]
        assert "run:tiny" in [each["id"] for each in client.look("agents")]


@pytest.mark.parametrize(
    ("name", "shown"),
    [(b"half \xff", "half \\udcff"), (b"a\n\x1b[31m\x03", "a\\n\\x1b[31m\\x03"), ("\u202eb".encode(), "\\u202eb")],
    ids=["not UTF-8", "control characters", "right to left"],
)
def test_a_folder_may_have_any_name(run, name, shown):
    with serving(run.rename(os.fsdecode(os.fsencode(run.parent) + b"/" + name))) as client:
        (brief,) = client.look("runs")
        assert brief["id"] == brief["name"] == shown and f"run:{shown}" in [
            each["id"] for each in client.look("agents")
        ]
        assert client.look(f"runs/{quote(shown)}/metrics")["resume"].endswith(f"{shown}' --resume")


def test_a_name_that_is_very_long_is_cut(run):
    with serving(run.rename(run.parent / ("x" * 250))) as client:
        assert client.look("runs")[0]["id"] == "x" * 80
        assert client.look(f"runs/{'x' * 80}/metrics")["resume"]


def test_a_game_of_ones_own_that_is_not_offered_is_neither_run_nor_read(run, tmp_path):
    secret = tmp_path / "evil.py"
    secret.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    write_settings(run, tiny_config(game={"name": f"{secret}:Evil"}))
    with serving(run) as client:
        assert "offer it with azero serve --game path/to/evil.py:Evil" in client.look("runs")[0]["problem"]
        assert client.look("runs/tiny/games", 409)["error"]["code"] == "bad_run"
        assert client.ask("runs/tiny/opinions", 409, moves="")["error"]["code"] == "bad_run"
    assert not (tmp_path / "ran").exists()


def test_a_program_in_the_settings_is_not_started(run, tmp_path):
    write_settings(run, tiny_config(evaluation={"opponent": f"gtp:touch {tmp_path / 'ran'}"}))
    with serving(run) as client:
        assert client.look("runs/tiny/metrics")["resume"].endswith("--resume --allow-commands")
        assert client.look("runs/tiny/games")["games"]
    assert not (tmp_path / "ran").exists()


def test_a_run_trains_while_it_is_locked_and_its_files_are_young(run, served):
    write_rows(run, b'{"iteration": 1, "time/play_s": 40.0}')
    assert served.look("runs/tiny/metrics")["state"] == "stopped"
    (run / ".lock").touch()
    assert served.look("runs/tiny/metrics")["state"] == "training"
    for minutes, state in ((1.5, "training"), (2.5, "stopped")):
        written = time.time() - 60 * minutes
        for path in (path for path in run.rglob("*") if path.is_file()):
            os.utime(path, (written, written))
        found = served.look("runs/tiny/metrics")
        assert found["state"] == state and found["updated_s"] == pytest.approx(60 * minutes, abs=5)


def test_another_run_in_the_same_folder_has_another_mark(run, served):
    before = served.look("runs/tiny/metrics")["mark"]
    write_rows(run, json.dumps(ROW).encode())
    assert served.look("runs/tiny/metrics")["mark"] != before
