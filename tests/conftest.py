"""Settings of all tests: the same random examples in each run, and no files left in the working folder."""

import io
import os
import signal
import sys
import tempfile
from pathlib import Path

import hypothesis
import hypothesis.configuration
import pytest

from azero import cli
from azero.compiler import notice
from azero.games.user import timeouts

CONFIG_FOLDER = tempfile.TemporaryDirectory(prefix="azero-config-")
"""Tests trust files in a folder of their own."""
os.environ["AZERO_CONFIG_DIR"] = CONFIG_FOLDER.name

notice.PATIENCE_S = 1e6  # stderr should not depend on what was compiled before
timeouts.COMPUTE_S = timeouts.ELAPSED_S = 1e6  # checks of rules should not depend on the machine's load

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background process ignores it

hypothesis.configuration.set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "azero-hypothesis")
hypothesis.settings.register_profile("azero", derandomize=True, database=None, deadline=None, max_examples=200)
hypothesis.settings.load_profile("azero")


BROWSER = "tests/browser/"
LEFT_OUT = pytest.StashKey[int]()


def pytest_deselected(items):
    for item in items:
        if item.nodeid.startswith(BROWSER):
            item.config.stash[LEFT_OUT] = item.config.stash.get(LEFT_OUT, 0) + 1


def pytest_terminal_summary(terminalreporter, config):
    """Says that tests in a browser were left out, unless they were some of those that ran."""
    ran = {
        report.nodeid for reports in terminalreporter.stats.values() for report in reports if hasattr(report, "when")
    }
    number = config.stash.get(LEFT_OUT, 0)
    if number and not any(name.startswith(BROWSER) for name in ran):
        terminalreporter.write_line(
            f"{number} tests in a browser were left out: `make test-browser` runs them, with Chromium "
            "(apt-get install chromium)"
        )


@pytest.fixture
def run_azero(monkeypatch, capsys, tmp_path):
    """Returns a function that runs a command in an empty folder, and returns exit code, stdout and stderr."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def run(*words, typed=""):
        monkeypatch.setattr(sys, "argv", ["azero", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        return cli.run(), *capsys.readouterr()

    return run
