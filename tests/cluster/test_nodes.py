"""Runs on nodes in network namespaces, which come and go: they end with the same bytes as on this machine alone."""

import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from training.runs import nets_of, wait_until, write_config

from azero.config.reading import load_config
from azero.selfplay.workers import local_pool
from azero.training.train import train

from .nodes import CAN_MAKE_NODES, Nodes
from .shared import TRAINING

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not CAN_MAKE_NODES, reason="it makes network namespaces, which needs root"),
]

RAY_AT_HOME = Path("~/.ray").expanduser()

LONG = {
    "training": {"iterations": 20},
    "selfplay": {"games_per_iteration": 48, "games_per_shard": 4, "num_simulations": 200},
}
"""Settings of the long form, of some minutes."""


@pytest.fixture(scope="module")
def nodes():
    """A head without CPUs, and two nodes with one each."""
    had_files = RAY_AT_HOME.exists()
    with Nodes() as found:
        for _ in range(2):  # one after another: side by side one of them may fail to start
            found.add()
        yield found
    assert RAY_AT_HOME.exists() == had_files


@contextmanager
def training(nodes, config, folder):
    """Trains on nodes in a process, which ends after the block without an error; yields it and its lines on stderr."""
    command = [sys.executable, "-P", "-m", "azero.cli", "train", str(config), "--run", str(folder)]
    process = subprocess.Popen(
        nodes.inside(nodes.living[0], [*command, "--cluster", nodes.head]),
        env=nodes.variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    try:
        yield process, lines
        out, err = process.communicate()
    finally:
        process.kill()
        process.wait()
    print(out, err, sep="\n")
    lines += err.splitlines()
    assert process.returncode == 0


def test_a_run_on_nodes_that_come_and_go_ends_with_the_same_bytes(nodes, whole, tmp_path):
    """A node trains, too. Its worker is killed, and the other node is taken away: the run waits for new workers."""
    config = write_config(tmp_path, training=TRAINING, cluster={"trainers": 2})
    with training(nodes, config, tmp_path / "run") as (process, lines):
        wait_until(lambda: nodes.find(b"ray::azero_trainer") or process.poll() is not None)
        trainer, _ = nodes.find(b"ray::azero_trainer")
        wait_until(lambda: nodes.kill_worker(trainer) or process.poll() is not None)
        nodes.take_away(next(name for name in nodes.living[1:] if name != trainer))
        nodes.add()
        assert process.poll() is None
    assert any(line.endswith("another one does its task again") for line in lines)
    assert nets_of(tmp_path / "run") == whole


@pytest.mark.slow
def test_processes_on_several_nodes_give_the_weights_of_one(nodes, whole, tmp_path):
    """The run's node trains with two others, which have a CPU each."""
    config = write_config(tmp_path, training=TRAINING, cluster={"trainers": 3})
    with training(nodes, config, tmp_path / "run"):
        pass
    assert nets_of(tmp_path / "run") == whole
    assert load_config(tmp_path / "run" / "config.toml").cluster.trainers == 3


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_long_run_on_nodes_that_come_and_go_ends_with_the_same_bytes(nodes, tmp_path):
    """Each 15 s a worker is killed. After two of them a node's link is cut, and another node comes."""
    config = write_config(tmp_path, **LONG)
    train(load_config(config), tmp_path / "local", make_pool=local_pool)
    nodes.add()
    num_kills, has_changed, due = 0, False, time.monotonic() + 15
    with training(nodes, config, tmp_path / "run") as (process, lines):
        while process.poll() is None:
            time.sleep(0.05)
            if time.monotonic() >= due and nodes.kill_worker():
                num_kills, due = num_kills + 1, time.monotonic() + 15
            if num_kills >= 2 and not has_changed:
                nodes.take_away(nodes.living[1], is_abrupt=True)
                nodes.add()
                has_changed = True
    print(f"{num_kills} workers killed")
    assert has_changed and any(line.endswith("another one does its task again") for line in lines)
    assert nets_of(tmp_path / "run") == nets_of(tmp_path / "local")
