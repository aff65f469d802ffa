"""Runs of tiny settings: one that has not begun, and the one that others are held to, unbroken."""

from pathlib import Path

import pytest

from azero.games import make_game
from azero.training.run import Run

from .runs import TIMEOUT_S, fork_train, note_writes, tiny_config, write_config


@pytest.fixture
def run(tmp_path):
    """A run that has not begun."""
    return Run.create(tmp_path / "run", tiny_config(), make_game("tic_tac_toe"))


@pytest.fixture(scope="session")
def config(tmp_path_factory):
    """The file of its settings."""
    return write_config(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="session")
def whole(config, tmp_path_factory):
    """The folder of a run that nothing happened to; WHOLE.writes lists its writes, WHOLE.out what it printed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    process = fork_train(folder, config, note_writes)
    process.join(TIMEOUT_S)
    assert process.exitcode == 0, Path(f"{folder}.err").read_text()
    return folder
