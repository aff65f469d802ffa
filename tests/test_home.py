"""Tests that azero's processes write nothing into the home folder and open no network connections."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from azero.compiler.cache import cache_root

RECORDER = """
import os
import sys

NAMES = "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"
ADDRESSES = "socket.connect", "socket.sendto", "socket.sendmsg"


def record(event, arguments):
    is_remote = event in ADDRESSES and isinstance(arguments[1], tuple)  # otherwise the address is a file
    if is_remote or event in NAMES:
        with open(os.environ["ATTEMPTS"], "a") as file:
            file.write(f"{event} {arguments!r}\\n")
        raise ConnectionRefusedError("this test lets nobody be reached")


sys.addaudithook(record)
"""
"""Every Python process runs this first, as `sitecustomize`. It records and refuses connections and host lookups."""

WORK = """
from azero.system.worker_pool import do_in_order


def run_nets():
    import numpy as np
    import torch
    from azero.config.schema import DeviceConfig, NetConfig
    from azero.games import make_game
    from azero.nets.runtimes.fastest import available_runtimes, open_session
    from azero.nets.architectures.tower.net import ResidualTower

    game = make_game("tic_tac_toe")
    net = ResidualTower(NetConfig(blocks=1, channels=8), game)
    for runtime in available_runtimes("cpu"):
        config = DeviceConfig(device="cpu", runtime=runtime.library, precision=runtime.precision)
        taken, session = open_session(net, config, 4, 1)
        session.run(np.zeros((4, *game.planes_shape), np.float32))
        yield taken.name


def draw_plot():
    from pathlib import Path
    from azero.plots import Line, Panel, draw

    draw([Panel("", "", "", [Line("line", [1, 2], [3, 4])])], Path("plot.png"))
    yield "plot"


def work(task):
    return list({"nets": run_nets, "plot": draw_plot}[task]())


if __name__ == "__main__":
    print(*do_in_order(work, ["nets", "plot"], 2))
"""
"""A script with two worker processes: one runs a net with every runtime, the other draws a plot."""


def run_at_home(tmp_path: Path, *words: str) -> str:
    """Runs Python with an empty home folder; returns its output. Asserts no files there and no connections."""
    home, attempts = tmp_path / "home", tmp_path / "attempts"
    home.mkdir()
    (tmp_path / "sitecustomize.py").write_text(RECORDER)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        "HOME": str(home),
        "AZERO_CACHE_DIR": str(cache_root()),
        "ATTEMPTS": str(attempts),
    }
    done = subprocess.run([sys.executable, *words], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not attempts.exists(), attempts.read_text()
    assert [str(path) for path in home.rglob("*")] == []
    return done.stdout


@pytest.mark.thorough
def test_workers_run_nets_and_draw_plots(tmp_path):
    (tmp_path / "work.py").write_text(WORK)
    done = run_at_home(tmp_path, "work.py")
    assert "torch fp32" in done and ("openvino" in done) == bool(importlib.util.find_spec("openvino"))
    assert (tmp_path / "plot.png").exists()


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        pytest.param("train smoke --run run --set selfplay.num_workers=2", marks=pytest.mark.long),
        "evaluate connect_four@20 --against uct@100 --games 4",
        "suggest connect_four",
        "export tic_tac_toe net.onnx",
        pytest.param("check-game tic_tac_toe", marks=pytest.mark.long),
        pytest.param("lab pgame-failure --trees 4 --runs 1 --threads 2", marks=pytest.mark.long),
    ],
)
def test_commands_run(tmp_path, command):
    assert run_at_home(tmp_path, "-m", "azero.cli", *command.split())
