"""Hostile inputs as whole commands, each in a forked process: exit code 0 or 2, and what it prints is harmless."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from training.runs import fork_command

from .kinds import Kind

MOST_SECONDS = 60


def fuzz_commands(
    kind: Kind, number: int, folder: Path, on_harm: Callable[[object, AssertionError], None]
) -> tuple[int, int, float]:
    """Runs a command with each input; returns how many were refused, how many were taken, and the longest time."""
    from .fuzz import Harm, inputs_of

    refused = taken = 0
    longest = 0.0
    (folder / "here").mkdir(exist_ok=True)
    os.chdir(folder / "here")
    for given in inputs_of(kind, number):
        begin = time.perf_counter()
        process = fork_command(kind.words(given, folder), folder / "command")
        process.join(MOST_SECONDS)
        output, errors = ((folder / f"command.{ending}").read_bytes() for ending in ("out", "err"))
        longest = max(longest, time.perf_counter() - begin)
        fault = fault_of(process.exitcode, output, errors)
        if process.exitcode is None:
            os.kill(process.pid, signal.SIGKILL)
        if left := [path.name for path in (folder / "here").iterdir()]:
            fault = f"it leaves {left}"
        if fault:
            on_harm(given, Harm(fault))
        refused += process.exitcode == 2
        taken += process.exitcode != 2
    return refused, taken, longest


def fault_of(code: int | None, output: bytes, errors: bytes) -> str:
    """Returns what is wrong with the end of a command; empty if nothing is."""
    lines = errors.decode("utf-8", "replace").splitlines()
    if code not in (0, 2):
        return f"exit code {code}: {lines[-3:]}"
    if b"Traceback" in errors or b"\x1b" in output + errors or b"unexpected error" in errors:
        return f"it prints {(output[-200:], errors[-500:])}"
    if code == 2 and (not lines or not lines[-1].startswith("azero: ")):
        return f"its last line is no message: {lines[-3:]}"
    return ""
