"""Runs with tiny settings: one that has not begun, and an unbroken one with which others are compared."""

import shutil
import signal
from pathlib import Path

import pytest

from azero.games import make_game
from azero.training.run import Run

from .runs import TIMEOUT_S, fork_train, note_writes, strike, tiny_config, write_config


@pytest.fixture
def run(tmp_path):
    """A run that has not begun."""
    return Run.create(tmp_path / "run", tiny_config(), make_game("tic_tac_toe"))


@pytest.fixture(scope="session")
def config(tmp_path_factory):
    """The file of the tiny settings."""
    return write_config(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="session")
def whole(config, tmp_path_factory):
    """The folder of an unbroken run. WHOLE.writes lists its writes, and WHOLE.out is its output."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    process = fork_train(folder, config, note_writes)
    process.join(TIMEOUT_S)
    assert process.exitcode == 0, Path(f"{folder}.err").read_text()
    return folder


@pytest.fixture(scope="session")
def killed(config, tmp_path_factory):
    """The folder of a run that was killed at the beginning of the second gate."""
    folder = tmp_path_factory.mktemp("killed") / "run"
    assert strike(folder, config, "state 2 gate 0", "after") == -signal.SIGKILL
    return folder


@pytest.fixture
def broken(killed, tmp_path) -> Path:
    """A copy of the run that was killed."""
    return Path(shutil.copytree(killed, tmp_path / "run"))
