"""What all tests with Ray use: one cluster of this machine, and one run without a cluster."""

from contextlib import ExitStack

import pytest
from training.runs import nets_of

from azero.cluster.connection import connected
from azero.selfplay.workers import local_pool
from azero.training.train import train

from .shared import config_of, with_tests


@pytest.fixture(scope="session")
def cluster():
    """A cluster of this machine."""
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", with_tests())
            found = stack.enter_context(connected("local"))
        yield found


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The nets of a run by the local pool with one worker, and one process of the trainer."""
    folder = tmp_path_factory.mktemp("local") / "run"
    train(config_of(), folder, make_pool=local_pool)
    return nets_of(folder)
