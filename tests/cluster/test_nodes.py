"""A run on nodes that come and go, in network namespaces: it ends with the same bytes as on this machine alone."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from training.runs import nets_of, write_config

from azero.config.reading import load_config
from azero.selfplay.pool import local_pool
from azero.training.train import train

from .nodes import CAN_MAKE_NODES, Nodes

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not CAN_MAKE_NODES, reason="it makes network namespaces, which needs root"),
]

LONG = {
    "training": {"iterations": 20},
    "selfplay": {"games_per_iteration": 48, "games_per_shard": 4, "num_simulations": 200},
}
"""Settings of the long form, of some minutes."""


def train_on(nodes, config, folder, every_s, most_kills, is_abrupt):
    """Trains on nodes while workers are killed; after two kills a node goes, and another comes. Returns stderr."""
    command = [sys.executable, "-P", "-m", "azero.cli", "train", str(config), "--run", str(folder)]
    process = subprocess.Popen(
        nodes.inside(nodes.living[0], [*command, "--cluster", nodes.head]),
        env=nodes.variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        num_kills, has_changed, due = 0, False, time.monotonic() + every_s
        while process.poll() is None:
            time.sleep(0.05)
            if num_kills < most_kills and time.monotonic() >= due and nodes.kill_worker():
                num_kills, due = num_kills + 1, time.monotonic() + every_s
            if num_kills >= 2 and not has_changed:
                nodes.take_away(nodes.living[1], is_abrupt)
                nodes.add()
                has_changed = True
    finally:
        process.kill()
        out, err = process.communicate()
    print(out, err, f"{num_kills} workers killed", sep="\n")
    assert process.returncode == 0 and num_kills >= 2 and has_changed
    return err


@pytest.mark.parametrize(
    ("num_nodes", "every_s", "most_kills", "is_abrupt", "sections"),
    [
        (2, 2, 2, False, {"training": {"iterations": 12}}),  # new workers need seconds: a third kill could end the run
        pytest.param(3, 15, 1000, True, LONG, marks=[pytest.mark.long, pytest.mark.timeout(3600)]),
    ],
)
def test_a_run_on_nodes_that_come_and_go_ends_with_the_same_bytes(
    tmp_path, num_nodes, every_s, most_kills, is_abrupt, sections
):
    config = write_config(tmp_path, **sections)
    train(load_config(config), tmp_path / "local", make_pool=local_pool)
    with Nodes() as nodes:
        for _ in range(num_nodes):
            nodes.add()
        err = train_on(nodes, config, tmp_path / "run", every_s, most_kills, is_abrupt)
        assert not Path(os.path.expanduser("~/.ray")).exists()
    assert "another one does its task again" in err
    assert nets_of(tmp_path / "run") == nets_of(tmp_path / "local")
