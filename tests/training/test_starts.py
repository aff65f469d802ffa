"""Tests of `selfplay.starts`: what is read from the file, what is refused, and that a run keeps its starts."""

import signal

import numpy as np
import pytest
from command_line import assert_bad_input

from azero.config.reading import load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.runs.shards import load_shard
from azero.training.beginning import read_starts

from .runs import figures_of, files_of, finish_train, nets_of, progress_of, strike, write_config

GAME = make_game("tic_tac_toe")
TEXTS = ["X2/1O1/3 X", "moves: a1 b2 c3 a3"]
FILE = f"# two positions\n\n{TEXTS[0]}   # the corner\n  {TEXTS[1]}\n#\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "starts.txt"
    path.write_text(FILE)
    return path


def test_positions_are_read_without_comments(file):
    assert read_starts(str(file), GAME) == TEXTS and read_starts("none", GAME) == []
    file.write_text("\ufeff3/3/3\r\n3/3/3 X\r\n", newline="")
    assert read_starts(str(file), GAME) == ["3/3/3", "3/3/3 X"]


def test_an_arrow_of_amazons_is_no_comment(file):
    arrows = "OOO1/O#2/#3/XXXX X"
    file.write_text(f"#OOO/O3/#3/XXXX X # a comment\n{arrows}\n")
    assert read_starts(str(file), make_game("amazons(size=4)")) == ["#OOO/O3/#3/XXXX X", arrows]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "3/3/3\n\n3/3 X\n",
            "line 3: position '3/3 X': the board has 3 rows, not 2; the initial position is '3/3/3 X'",
        ),
        ("moves: a1 a1\n", "line 1: move 2: 'a1' is not legal here"),
        ("XXX/OO1/3 O\n", "line 1: 'XXX/OO1/3 O': the game is over there"),
        ("# nothing\n\n", " has no positions; each line should have one, e.g. '3/3/3 X'"),
        ("7/7/7/7/7/7 X\n", "line 1: position '7/7/7/7/7/7 X': the board has 3 rows, not 6"),
        (b"\xff\xfe", " is not UTF-8 text"),
        ("3/3/3\n" * 100_000, " cannot be read: it has more than 524,288 bytes"),
    ],
)
def test_what_is_no_file_of_starts_is_refused(file, text, message):
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput) as error:
        read_starts(str(file), GAME)
    assert message in str(error.value) and str(error.value).startswith(f"selfplay.starts = {str(file)!r}")


@pytest.mark.parametrize("name", ["missing.txt", ".", "a\0b", "x" * 5000])
def test_what_is_no_file_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="cannot be read"):
        read_starts(name, GAME)


def test_a_run_with_a_bad_file_does_not_begin(run_azero, file, tmp_path):
    file.write_text("3/3/3 O\n")
    config, run = write_config(tmp_path, selfplay={"starts": str(file)}), tmp_path / "run"
    assert_bad_input(run_azero("train", config, "--run", run), f"selfplay.starts = {str(file)!r}, line 1: position")
    assert not run.exists()


@pytest.mark.slow
def test_a_run_keeps_its_starts(run_azero, file, tmp_path):
    """Killed and resumed without the file it ends the same. Its shards are replayed from their starts."""
    config = write_config(tmp_path, selfplay={"starts": str(file)}, training={"iterations": 2})
    whole, run = tmp_path / "whole", tmp_path / "run"
    assert strike(run, config, "checkpoints/00000", "before") == -signal.SIGKILL
    finish_train(whole, config)
    assert strike(run, config, "replay/00001-0001", "before") == -signal.SIGKILL
    file.unlink()
    assert strike(run, config, "state 2 train 0", "before") == -signal.SIGKILL
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole) and figures_of(run) == figures_of(whole)
    assert files_of(run / "replay") == files_of(whole / "replay")
    assert progress_of(run)["starts"] == TEXTS
    shards = [load_shard(path, GAME) for path in (run / "replay").iterdir()]
    assert {text for shard in shards for text in shard.start_texts()} == set(TEXTS)
    assert max(np.max(shard.lengths) for shard in shards) <= 7
    assert run_azero("check-run", run)[0] == 0
    assert load_config(run / "config.toml").selfplay.starts == str(file)
    others = "selfplay.starts=none"
    assert_bad_input(run_azero("train", "--resume", "--run", run, "--set", others), "selfplay.starts cannot change")


def test_a_run_that_had_not_begun_needs_the_file(run_azero, file, tmp_path):
    config, run = write_config(tmp_path, selfplay={"starts": str(file)}), tmp_path / "run"
    assert strike(run, config, "checkpoints/00000", "before") == -signal.SIGKILL
    file.unlink()
    assert_bad_input(run_azero("train", "--resume", "--run", run), f"selfplay.starts = {str(file)!r} cannot be read")
