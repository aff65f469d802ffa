"""Tiny runs of `azero train` in processes of their own, which can be killed, and what such a run leaves behind.

The processes are forked from one that has imported torch already, and otherwise are what the command line is.
"""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

from azero.config import Config, check_config

TIMEOUT_S = 240

TINY = {
    "seed": 5,
    "game": {"name": "tic_tac_toe"},
    "net": {"blocks": 1, "channels": 8, "policy_channels": 2, "value_channels": 2, "value_hidden": 8},
    "selfplay": {
        "games_per_iteration": 12,
        "games_per_shard": 4,
        "parallel_games": 4,
        "num_workers": 1,
        "num_simulations": 6,
    },
    "replay": {"window": 150},
    "training": {"iterations": 3, "batch_size": 32, "warmup_steps": 4, "save_every_steps": 4, "learning_rate": 0.02},
    "gate": {"games": 6, "num_simulations": 4, "opening_plies": 2, "win_rate_threshold": 0.4},
    "evaluation": {"opponent": "uct@20", "every": 2, "games": 4, "num_simulations": 4},
    "device": {"device": "cpu", "threads": 1},
}
"""Seconds; promotes now and then, saves within iterations, and lets shards leave the window."""

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["azero.training.loop", "torch.utils.tensorboard"])


def tiny_config(**sections: dict) -> Config:
    """Returns the tiny settings, with others in the given sections."""
    merged = {key: value | sections.get(key, {}) if isinstance(value, dict) else value for key, value in TINY.items()}
    return check_config(merged)


def write_config(folder: Path, **sections: dict) -> Path:
    """Writes the tiny settings, with others in the given sections, as TOML; returns the file."""
    merged = {key: value | sections.get(key, {}) if isinstance(value, dict) else value for key, value in TINY.items()}
    lines = [f"seed = {merged.pop('seed')}"]
    for section, values in merged.items():
        lines += [f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    path = folder / "tiny.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def train_arguments(run: Path, config: Path) -> list[str]:
    """Returns what comes after `azero`, to begin the run or to go on with it."""
    return ["train", str(config), "--run", str(run), *(["--resume"] if (run / "config.toml").exists() else [])]


def fork_train(run: Path, config: Path, prepare: Callable | None = None, *arguments: object) -> BaseProcess:
    """Starts `azero train` in a forked process, `prepare(run, *arguments)` first; its output goes to RUN.out and RUN.err."""
    process = _FORKS.Process(target=_train, args=(train_arguments(run, config), run, prepare, arguments))
    process.start()
    return process


def _train(command: list[str], run: Path, prepare: Callable | None, arguments: tuple) -> None:
    for stream, ending in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{run}.{ending}", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    if prepare is not None:
        prepare(run, *arguments)
    from azero.cli import main

    sys.argv = ["azero", *command]
    main()


def finish_train(run: Path, config: Path) -> None:
    """Begins the run, or goes on with it, to its end."""
    process = fork_train(run, config)
    process.join(TIMEOUT_S)
    assert process.exitcode == 0, Path(f"{run}.err").read_text()


def start_train(run: Path, config: Path, **options: object) -> subprocess.Popen:
    """Starts `azero train` as a user does."""
    command = [sys.executable, "-m", "azero.cli", *train_arguments(run, config)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def progress_of(run: Path, name: str = "state.safetensors") -> dict:
    """Returns the progress in a run's state; empty where there is none."""
    try:
        data = (run / name).read_bytes()
    except FileNotFoundError:
        return {}
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["azero"])


def nets_of(run: Path) -> dict[str, bytes]:
    """Returns the bytes of every net in a run's folder, by name."""
    paths = [*run.glob("*.safetensors"), *run.glob("checkpoints/*")]
    return {str(path.relative_to(run)): path.read_bytes() for path in paths if path.name != "state.safetensors"}


def wait_until(is_so: Callable[[], object], timeout_s: float = TIMEOUT_S) -> None:
    """Waits until something is so, looking often."""
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.0005)


def kill_after(process: BaseProcess, seconds: float) -> bool:
    """Kills a process by SIGKILL after some seconds; returns whether it was still at work."""
    process.join(seconds)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL
