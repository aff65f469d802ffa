"""A tiny run, and servers that offer a folder."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from azero.interfaces.web.offered.catalogue import Catalogue
from azero.runs.settings import write_settings
from azero.training.train import train
from tests.interfaces.web.conftest import client_of
from tests.training.runs import tiny_config


class Watcher:
    """A callback that looks at a run after each stage, by a server."""

    def __init__(self, client):
        self.client = client
        self.seen = []

    def look(self, view):
        found, games = self.client.look("runs/tiny/metrics"), self.client.look("runs/tiny/games?limit=50")
        newest = self.client.look(f"runs/tiny/games/{games['games'][0]['id']}")
        self.seen.append((found, games, newest))

    after_selfplay = after_training = after_gate = look


@pytest.fixture(scope="session")
def watched(tmp_path_factory):
    """Returns the folder of a run of three iterations, and what a server said before and during the run."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    folder.mkdir()
    config = folder / "config.toml"
    write_settings(folder, tiny_config())
    with serving(folder) as client:
        watcher = Watcher(client)
        before = client.look("runs/tiny/metrics")
        config.unlink()
        train(tiny_config(), folder, callbacks=[watcher])
    return folder, before, watcher.seen


@pytest.fixture(scope="session")
def trained(watched):
    """Returns the folder of the run. Nobody changes it."""
    return watched[0]


@pytest.fixture
def run(trained, tmp_path):
    """Returns a copy of the run's folder, which may be changed."""
    return Path(shutil.copytree(trained, tmp_path / "tiny"))


@contextmanager
def serving(*folders, **offers):
    """Yields a client of a server that offers these runs."""
    with client_of(catalogue=Catalogue(["uct@1000"], runs=folders, **offers)) as client:
        yield client
        client.app.state.context.searches.close()


@pytest.fixture(scope="package")
def watcher(trained):
    """Yields a client of a server that offers the run that nobody changes."""
    with serving(trained) as client:
        yield client
