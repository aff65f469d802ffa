"""The process of an engine: started so that it ends with azero, read without blocking, and ended."""

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from functools import partial
from typing import IO

from azero.system.console import printable

_LONGEST_LINE = 10_000  # characters; a longer line is read in parts

_GUARD = """
import os, signal, subprocess, sys, threading
def end_with_azero():
    os.read(int(sys.argv[1]), 1)
    os.killpg(0, signal.SIGKILL)
threading.Thread(target=end_with_azero, daemon=True).start()
try:
    sys.exit(subprocess.call(sys.argv[2:]))
except OSError as error:
    sys.exit(f"azero: the engine cannot be started: {error}")
"""
"""Runs an engine until it ends or azero does. Then the other end of a pipe is closed, even after `kill -9`."""


def split_command(command: str) -> list[str] | str:
    """Returns a command for `subprocess`. Windows splits it itself, since backslashes are part of its paths."""
    return command.strip() if sys.platform == "win32" else shlex.split(command)


def read_lines(output: IO[str], lines: "queue.Queue[str]") -> None:
    """Puts the engine's lines into the queue as they come. It runs in a thread, since reading a pipe has no timeout."""
    with output:
        while line := output.readline(_LONGEST_LINE):
            lines.put(line)
    lines.put("")


def show_errors(errors: IO[str]) -> None:
    """Prints what the engine writes on its stderr on this one, with escape sequences made visible. Runs in a thread."""
    with errors, contextlib.suppress(OSError, ValueError):  # this process's stderr is closed
        while line := errors.readline(_LONGEST_LINE):
            print(printable(line.rstrip().expandtabs()), file=sys.stderr, flush=True)


def start_engine(words: list[str] | str) -> tuple[subprocess.Popen, int | None]:
    """Starts an engine; returns its process, and the end of a pipe that ends the engine when it is closed.

    The session is new, so that processes started by the engine can be killed with it. Windows has no such pipe.
    """
    pipe = subprocess.PIPE
    start = partial(subprocess.Popen, stdin=pipe, stdout=pipe, stderr=pipe, text=True, errors="replace")
    if sys.platform == "win32":
        return start(words), None
    if shutil.which(words[0]) is None:
        raise FileNotFoundError(f"there is no program {words[0]!r}")
    heard, lifeline = os.pipe()
    guarded = [sys.executable, "-I", "-S", "-c", _GUARD, str(heard), *words]
    try:
        return start(guarded, start_new_session=True, pass_fds=(heard,)), lifeline
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(heard)


def end_engine(process: subprocess.Popen, lifeline: int | None, errors: threading.Thread) -> None:
    """Kills an engine and the processes that it started. It is called once.

    Args:
      errors: the thread of `show_errors`, whose last lines may say why the engine has ended.
    """
    if lifeline is not None:
        os.close(lifeline)
    if process.returncode is None:  # otherwise another process may have its number
        if sys.platform == "win32":
            process.kill()
        else:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended
                os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    errors.join(timeout=1.0)  # a process outside the session may keep its stderr open
