"""Tiny runs of `azero train` in separate processes, which can be killed, and the files that they leave.

The processes are forked from one that has already imported torch. Otherwise they equal the command line.
"""

import contextlib
import errno
import functools
import json
import multiprocessing.context
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import forkserver, resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from unittest import mock

import pytest

import azero.system.files
from azero.cli import main
from azero.config.reading import check_config
from azero.config.schema import Config
from azero.runs.state import NOTES_OF_PLAY, Progress

TIMEOUT_S = 240

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it looks for processes in /proc")

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
        "full_search_share": 0.8,
        "fast_simulations": 3,
        "random_opening_share": 0.3,
        "random_opening_plies": 2,
    },
    "search": {"cache_mib": 1},
    "replay": {"window": 100, "window_growth": 0.4},
    "training": {
        "iterations": 3,
        "batch_size": 32,
        "warmup_steps": 4,
        "save_every_steps": 4,
        "learning_rate": 0.02,
        "ema_decay": 0.99,
    },
    "gate": {"games": 6, "num_simulations": 4, "opening_plies": 2, "win_rate_threshold": 0.4, "final_games": 2},
    "evaluation": {"opponent": "uct@20", "every": 2, "games": 4, "num_simulations": 4},
    "device": {"device": "cpu", "threads": 1},
    "cluster": {},
}
"""A run takes seconds. It has promotions, saves within iterations, and shards that leave the window."""


@functools.cache
def _forks() -> multiprocessing.context.ForkServerContext:
    """Returns a context whose processes are forked from one that has imported `warm`."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"{__package__}.warm"])
    paths = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]  # for the import of `warm`
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(paths)):
        forkserver.ensure_running()
    return context


def tiny_config(**sections: dict) -> Config:
    """Returns the tiny settings, with changes in the given sections."""
    return check_config(TINY | {key: TINY[key] | values for key, values in sections.items()})


def write_config(folder: Path, seed: int = TINY["seed"], **sections: dict) -> Path:
    """Writes the tiny settings, with changes in the given sections, as TOML; returns the file."""
    merged = {key: value | sections.get(key, {}) for key, value in TINY.items() if key != "seed"}
    lines = [f"seed = {seed}"]
    for section, values in merged.items():
        lines += [f"[{section}]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]
    path = folder / "tiny.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def in_training(positions: int, **more: int) -> Progress:
    """Returns the progress of a run that is about to train on this number of fresh positions."""
    notes = {**dict.fromkeys(NOTES_OF_PLAY, 1), "selfplay/positions": positions}
    return Progress(stage="train", shards=["00001-0000"], notes=notes, **more)


def train_arguments(run: Path, config: Path) -> list[str]:
    """Returns the arguments of `azero` that begin or resume the run."""
    return ["train", str(config), "--run", str(run), *(["--resume"] if (run / "config.toml").exists() else [])]


def fork_train(run: Path, config: Path, prepare: Callable | None = None, *arguments: object) -> BaseProcess:
    """Starts `azero train` in a forked process after `prepare(run, *arguments)`. It prints to RUN.out and RUN.err."""
    process = _forks().Process(target=_run, args=(train_arguments(run, config), run, prepare, arguments))
    process.start()
    return process


def fork_command(words: list[str], place: Path) -> BaseProcess:
    """Starts `azero` in a forked process. It prints to PLACE.out and PLACE.err, which it empties first."""
    for ending in ("out", "err"):
        Path(f"{place}.{ending}").write_bytes(b"")
    process = _forks().Process(target=_run, args=(words, place, None, ()))
    process.start()
    return process


def _run(command: list[str], run: Path, prepare: Callable | None, arguments: tuple) -> None:
    for stream, ending in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{run}.{ending}", os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    resource_tracker._resource_tracker._fd = None  # the parent's tracker would warn after a kill
    if prepare is not None:
        prepare(run, *arguments)

    sys.argv = ["azero", *command]
    main()


def note_writes(run: Path) -> None:
    """Makes this process list its writes in RUN.writes."""

    def note(write: str, moment: str) -> None:
        if moment == "after":
            with open(f"{run}.writes", "a") as file:
                file.write(write + "\n")

    _watch_writes(run, note)


def strike_at_write(run: Path, write: str, moment: str, sign: int, filler: Path | None = None) -> None:
    """Makes this process signal itself "before" or "after" a write. With sign 0 the disk is full from then on."""

    def strike(each: str, when: str) -> None:
        if (each, when) != (write, moment):
            return
        if sign:
            os.kill(os.getpid(), sign)
        elif filler is None:
            azero.system.files.os.fsync = _find_no_space
        else:
            with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
                while file.write(bytes(1 << 12)):
                    pass

    _watch_writes(run, strike)


def _find_no_space(descriptor: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _watch_writes(run: Path, notice: Callable[[str, str], None]) -> None:
    """Calls `notice(write, moment)` before and after each rename to a file in `run`. States are named by progress."""
    replace = os.replace

    def watched(source: Path, destination: Path) -> None:
        if not str(destination).startswith(str(run)):
            return replace(source, destination)
        write = str(destination.relative_to(run)).removesuffix(".safetensors").removesuffix(".jsonl")
        if write == "state":
            progress = progress_of(run, source.name)
            write = f"state {progress['iteration']} {progress['stage']} {progress['steps_this_iteration']}"
        notice(write, "before")
        replace(source, destination)
        notice(write, "after")

    os.replace = watched


def finish_train(run: Path, config: Path) -> None:
    """Begins or resumes the run, and trains to its end."""
    process = fork_train(run, config)
    process.join(TIMEOUT_S)
    assert process.exitcode == 0, Path(f"{run}.err").read_text()


def strike(run: Path, config: Path, write: str, moment: str, sign: int = signal.SIGKILL) -> int:
    """Trains until the run signals itself before or after a write; returns the exit code."""
    process = fork_train(run, config, strike_at_write, write, moment, int(sign))
    process.join(TIMEOUT_S)
    assert process.exitcode is not None, f"it neither reached {write} nor ended"
    return process.exitcode


def start_train(run: Path, config: Path, **options: object) -> subprocess.Popen:
    """Starts `azero train` as a user would."""
    command = [sys.executable, "-m", "azero.cli", *train_arguments(run, config)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def progress_of(run: Path, name: str = "state.safetensors") -> dict:
    """Returns the progress in a run's state; empty if there is no state."""
    try:
        data = (run / name).read_bytes()
    except FileNotFoundError:
        return {}
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["azero"])


def nets_of(run: Path) -> dict[str, bytes]:
    """Returns the bytes of all nets in a run's folder, by name."""
    paths = [*run.glob("*.safetensors"), *run.glob("checkpoints/*")]
    return {str(path.relative_to(run)): path.read_bytes() for path in paths if not path.name.startswith("state")}


def figures_of(run: Path) -> list[dict]:
    """Returns the lines of a run's metrics without times."""
    lines = (json.loads(each) for each in (run / "metrics.jsonl").read_text().splitlines())
    return [
        {key: value for key, value in line.items() if not key.endswith("_s") and key != "time/overlap"}
        for line in lines
    ]


def files_of(folder: Path) -> dict[str, bytes]:
    """Returns the bytes of a folder's files, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def flip(path: Path, share: float = 0.7) -> None:
    """Flips a bit of a file."""
    data = bytearray(path.read_bytes())
    data[int(len(data) * share)] ^= 4
    path.write_bytes(data)


def check(run_azero: Callable, run: Path, *more: str) -> tuple[int, dict]:
    """Returns the exit code and the report of `azero check-run`."""
    code, output, errors = run_azero("check-run", run, "--json", *more)
    assert errors == ""
    return code, json.loads(output)


def wait_until(is_so: Callable[[], object], timeout_s: float = TIMEOUT_S) -> None:
    """Waits until `is_so()` is true."""
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.0005)


def kill_after(process: BaseProcess, seconds: float) -> bool:
    """Kills a process by SIGKILL after some seconds; returns whether it was still running."""
    process.join(seconds)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def processes(parent: int | None = None, group: int | None = None) -> set[int]:
    """Returns the children of a process, or the processes of a group, without zombies."""
    found = set()
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit():
                status, its_parent, its_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
                if status != "Z" and (parent == int(its_parent) or group == int(its_group)):
                    found.add(int(folder.name))
    return found


def assert_gone(group: int) -> None:
    """Asserts that all processes of a group end soon; kills those that do not."""
    try:
        wait_until(lambda: not processes(group=group), timeout_s=30)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
