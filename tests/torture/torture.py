"""Tortures training: runs are killed or their disks fail, over and over, and must end as an unbroken run does.

Each fault hits a run of the tiny settings at a random instant or a random write. `azero check-run` must find its files
whole then, or mend the one that was damaged on purpose. The run is resumed, and the next fault hits it. When a run
ends, its nets, shards and figures are compared with those of an unbroken one. A run that differs or hangs, or a process
that outlives its parent by 5 s, ends the torture with exit code 1; the run is kept.

    make torture MINUTES=10
    PYTHONPATH=tests .venv/bin/python -m torture.torture --minutes 10 --kinds worker,parent --faults 200
"""

import argparse
import contextlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

from training.runs import (
    TIMEOUT_S,
    figures_of,
    files_of,
    finish_train,
    fork_command,
    fork_train,
    nets_of,
    processes,
    write_config,
)

from azero.training.checking import check_run
from azero.training.damage import RunReport

from .faults import DISKS, damage_file, use_failing_disk

ORPHANS_END_S = 5.0

MOST_SECONDS = {1: 1.0, 2: 6.0}
"""A kill comes within this time. Processes of two workers take seconds to start."""

MOST_STEPS = {"full disk": 20, "no flush": 40, "power cut": 80}
"""A third of the steps of a whole run, as each kind of disk counts them."""


class Difference(Exception):
    """A run did not end as it should."""


class Torture:
    """Two runs under torture, one with one worker and one with two, and the unbroken run they should equal.

    Attributes:
      faults: number of faults so far, by kind.
      ended: number of runs that ended and were compared.
      lost: number of runs that were damaged beyond repair, as `check-run` said before.
    """

    def __init__(self, folder: Path, seed: int):
        self.folder, self.draw = folder, random.Random(seed)
        self.faults: Counter[str] = Counter()
        self.ended = self.lost = 0
        self.configs = {}
        for workers in (1, 2):
            (folder / f"config{workers}").mkdir()
            config = write_config(folder / f"config{workers}", selfplay={"num_workers": workers})
            self.configs[workers] = config
        self.whole = folder / "whole"
        finish_train(self.whole, self.configs[1])
        self.kinds: dict[str, Callable[[], None]] = {
            "run": lambda: self._kill(1),
            "parent": lambda: self._kill(2),
            "group": lambda: self._kill(2, is_group=True),
            "worker": self._kill_worker,
            "damage": self._damage,
            **{name: lambda name=name: self._fail(name) for name in DISKS},
        }

    def hit(self, kind: str) -> None:
        """Runs until one fault of this kind, or to the run's end."""
        self.kinds[kind]()

    def finish(self) -> None:
        """Resumes what is under way, and compares it."""
        for workers in (1, 2):
            if self._run(workers).exists():
                process = self._start(workers)
                self._wait(process)
                self._end(workers, process)

    def _run(self, workers: int) -> Path:
        return self.folder / f"run{workers}"

    def _start(self, workers: int, prepare: Callable | None = None, *arguments: object) -> BaseProcess:
        return fork_train(self._run(workers), self.configs[workers], _lead, prepare, *arguments)

    def _kill(self, workers: int, is_group: bool = False, most_seconds: float = 0.0) -> None:
        """Kills the run at a random instant: its first process alone, or its group."""
        process = self._start(workers)
        process.join(self.draw.uniform(0.0, most_seconds or MOST_SECONDS[workers]))
        if process.exitcode is not None:
            return self._end(workers, process)
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if is_group and os.getpgid(process.pid) == process.pid else os.kill)(process.pid, signal.SIGKILL)
        process.join()
        self.faults["group" if is_group else "run" if workers == 1 else "parent"] += 1
        self._expect_no_orphans(process)
        self._expect_whole(workers)

    def _kill_worker(self) -> None:
        """Kills one of two workers at a random instant. The run goes on."""
        process = self._start(2)
        deadline = time.monotonic() + TIMEOUT_S
        while process.exitcode is None and time.monotonic() < deadline:
            process.join(self.draw.uniform(0.0, MOST_SECONDS[2] / 3))
            workers = sorted(each for each in processes(parent=process.pid) if _is_worker(each))
            if workers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.draw.choice(workers), signal.SIGKILL)
                self.faults["worker"] += 1
        self._wait(process)
        if process.exitcode == 2 and "workers have died at the same task" in self._errors(2):
            return  # three of them, by chance; the run is resumed
        self._end(2, process)

    def _fail(self, kind: str) -> None:
        """Lets the disk fail at a random step."""
        step = self.draw.randrange(MOST_STEPS[kind])
        process = self._start(1, use_failing_disk, kind, step, self.draw.getrandbits(32))
        self._wait(process)
        if process.exitcode == 0:
            return self._end(1, process)
        self.faults[kind] += 1
        expected = -signal.SIGKILL if kind == "power cut" else 2
        if process.exitcode != expected:
            raise Difference(f"{kind}: exit code {process.exitcode}\n{self._errors(1)}")
        if expected == 2 and not self._errors(1).splitlines()[-1].startswith("azero: "):
            raise Difference(f"{kind}: its last line is not a message\n{self._errors(1)}")
        self._expect_whole(1)

    def _damage(self) -> None:
        """Kills the run, damages one of its files, and lets `check-run --repair`, which is killed too, mend it.

        Where that loses something, as it says before, the run begins again.
        """
        self._kill(1, most_seconds=3 * MOST_SECONDS[1])
        files = sorted(each for each in self._run(1).rglob("*") if each.suffix in (".safetensors", ".toml"))
        if not files or not (self._run(1) / "state.safetensors").exists():
            return
        file = self.draw.choice(files)
        what = f"{damage_file(file, self.draw)} {file}"
        costs = [each.cost for each in self._check(1).damaged]
        repair = fork_command(["check-run", str(self._run(1)), "--repair"], self._run(1))
        if self.draw.random() < 0.5:
            repair.join(self.draw.uniform(0.0, MOST_SECONDS[1] / 4))
            repair.kill()
            repair.join()
            repair = fork_command(["check-run", str(self._run(1)), "--repair"], self._run(1))
        self._wait(repair)
        self.faults["damage"] += 1
        if not all(each.startswith("none") or "result is the same" in each for each in costs):
            self.lost += 1
            return self._remove(1)
        if repair.exitcode != 0:
            raise Difference(f"{what}: check-run --repair exits with {repair.exitcode}\n{self._errors(1)}")
        self._expect_whole(1)

    def _check(self, workers: int) -> RunReport:
        return check_run(self._run(workers), is_repairing=False)

    def _expect_whole(self, workers: int) -> None:
        if (self._run(workers) / "config.toml").exists() and (damaged := self._check(workers).damaged):
            raise Difference(f"check-run finds damage in {self._run(workers)}: {damaged}")

    def _wait(self, process: BaseProcess) -> None:
        process.join(TIMEOUT_S)
        if process.exitcode is None:
            raise Difference(f"process {process.pid} hangs")

    def _end(self, workers: int, process: BaseProcess) -> None:
        """Compares a run that has ended with the unbroken one, and removes it."""
        self._expect_no_orphans(process)
        if process.exitcode != 0:
            raise Difference(f"exit code {process.exitcode}\n{self._errors(workers)}")
        run = self._run(workers)
        for damaged in [*run.rglob("*.damaged")]:
            shutil.rmtree(damaged) if damaged.is_dir() else damaged.unlink()
        for what in (nets_of, lambda folder: files_of(folder / "replay"), _figures_without_deaths):
            if what(run) != what(self.whole):
                raise Difference(f"{run} differs from {self.whole}")
        self.ended += 1
        self._remove(workers)

    def _remove(self, workers: int) -> None:
        run = self._run(workers)
        shutil.rmtree(run)
        for ending in ("out", "err"):
            Path(f"{run}.{ending}").unlink(missing_ok=True)

    def _expect_no_orphans(self, process: BaseProcess) -> None:
        deadline = time.monotonic() + ORPHANS_END_S
        while orphans := processes(group=process.pid):
            if time.monotonic() > deadline:
                raise Difference(f"processes {sorted(orphans)} outlive their parent by {ORPHANS_END_S:.0f} s")
            time.sleep(0.01)

    def _errors(self, workers: int) -> str:
        path = Path(f"{self._run(workers)}.err")
        return path.read_text() if path.exists() else "it printed nothing"


def _lead(run: Path, prepare: Callable | None, *arguments: object) -> None:
    """Makes this process lead a group of its own, and prepares it."""
    os.setsid()
    if prepare is not None:
        prepare(run, *arguments)


def _figures_without_deaths(run: Path) -> list[dict]:
    return [line | {"selfplay/worker_deaths": 0} for line in figures_of(run)]


def _is_worker(pid: int) -> bool:
    """Returns whether a child is one of self-play's workers, and not Python's resource tracker."""
    with contextlib.suppress(OSError):
        return "spawn_main" in (Path("/proc") / str(pid) / "cmdline").read_text()
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--faults", type=int, default=10**9, help="end after this number of faults of each kind")
    parser.add_argument("--kinds", default="", help="kinds of faults, separated by commas; all by default")
    parser.add_argument("--seed", type=int, default=None, help="seed of the faults; the instants differ in any case")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="azero-torture-"))
    seed = time.time_ns() % 10**6 if arguments.seed is None else arguments.seed
    print(f"seed {seed}, in {folder}", flush=True)
    torture = Torture(folder, seed)
    kinds = arguments.kinds.split(",") if arguments.kinds else list(torture.kinds)
    end, told = time.monotonic() + arguments.minutes * 60, time.monotonic()
    try:
        while time.monotonic() < end and (left := [k for k in kinds if torture.faults[k] < arguments.faults]):
            torture.hit(torture.draw.choice(left))
            if time.monotonic() > told + 60:
                told = time.monotonic()
                print(dict(torture.faults), torture.ended, "runs ended the same", flush=True)
        torture.finish()
    except (Difference, AssertionError) as difference:
        print(f"{difference}\nafter {dict(torture.faults)}; the run is in {folder}")
        sys.exit(1)
    print(f"{sum(torture.faults.values())} faults {dict(torture.faults)}: {torture.ended} runs ended the same")
    print(f"{torture.lost} runs were damaged beyond repair" if torture.lost else "no run was damaged beyond repair")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
