"""What engines of all protocols share: a process, and limits on the time and the length of its answers.

The process is started so that it ends with azero. It is read without blocking.
"""

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import IO

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import Clock
from azero.arena.agents.game_player import GamePlayer
from azero.arena.agents.names import Options
from azero.arena.agents.suggestion import Suggestion
from azero.errors import BadInput, EngineFailed
from azero.games import Game, State
from azero.system.console import printable
from azero.system.data_only import check_may_run

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


LONGEST_QUOTE = 100
"""Most characters of an answer in a message."""

_GRACE_S = 5.0  # beyond the engine's own limit, until it is given up
_LONGEST_PATIENCE_S = 24 * 3600.0
_LOOK_S = 1.0  # the most that one look at the engine's answer counts; azero may have been stopped for longer
_MOST_LINES_WAITING = 1000  # an engine that writes more has to wait


class EngineAgent(Agent):
    """Plays an engine's moves. Raises EngineFailed if the engine ends, does not answer or breaks the protocol.

    Attributes:
      process: the engine's.
    """

    judges_all_moves = False

    most_seconds = 60.0
    """Time limit for an answer, in seconds. The option `patience` of the agent's name replaces it."""

    longest_answer = 100_000
    """Most characters of an answer."""

    def __init__(self, name: str, game: Game, options: Options, command: str, seed: int = 0):
        super().__init__(name, game, seed)
        self._configure(options)
        self.player = EnginePlayer(self)
        self._more_seconds = 0.0  # for an answer, beyond the usual limit
        try:
            words = split_command(command)
            if not words:
                raise BadInput(f"agent {name!r} names no command, e.g. {self._example}")
            check_may_run(f"agent {name!r}")
            self.process, lifeline = start_engine(words)
        except BadInput:
            raise
        except (OSError, ValueError) as error:
            raise BadInput(f"agent {name!r}: the engine cannot be started: {error}") from None
        assert self.process.stdout is not None and self.process.stderr is not None
        errors = threading.Thread(target=show_errors, args=(self.process.stderr,), daemon=True)
        errors.start()
        # It runs when Python ends, if not before.
        self._end = weakref.finalize(self, end_engine, self.process, lifeline, errors)
        self._lines: queue.Queue[str] = queue.Queue(_MOST_LINES_WAITING)  # of the engine's output; "" at its end
        self._reader = threading.Thread(target=read_lines, args=(self.process.stdout, self._lines), daemon=True)
        self._reader.start()

    _example: str
    """An agent's name, for messages."""

    def _configure(self, options: Options) -> None:
        """Takes the options of the agent's name; raises BadInput. The engine is started afterwards."""
        if patience := options.number("patience", 0.0, 0.1, _LONGEST_PATIENCE_S):
            self.most_seconds = patience

    @property
    def has_failed(self) -> bool:
        return not self._end.alive or self.process.poll() is not None

    @abstractmethod
    def begin_game(self) -> None:
        """Tells the engine that its next position is of another game."""

    @abstractmethod
    def suggest_on_clock(self, state: State, clock: Clock) -> Suggestion:
        """Returns the engine's move, after telling it the time that is left."""

    @contextlib.contextmanager
    def waiting_for(self, seconds: float | None) -> Iterator[None]:
        """Waits longer for answers if the engine may think for so long; None: it has no limit of time."""
        self._more_seconds = max(0.0, seconds + _GRACE_S - self.most_seconds) if seconds else 0.0
        try:
            yield
        finally:
            self._more_seconds = 0.0

    def close(self) -> None:
        self._end()
        deadline = time.monotonic() + 1.0  # a process outside the session may keep the output open
        while self._reader.is_alive() and time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):  # the reader may wait for room
                self._lines.get_nowait()
            self._reader.join(timeout=0.01)
        with contextlib.suppress(queue.Full):
            self._lines.put_nowait("")  # for a thread that still waits for an answer
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # the last line was never read
            self.process.stdin.close()

    def send(self, command: str) -> None:
        """Sends a line; raises EngineFailed if the engine has ended."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
        except OSError:  # a broken pipe; on Windows, an invalid argument
            raise self._ended(command) from None

    def _read(self, command: str) -> Iterator[str]:
        """Yields the lines that answer a command, without spaces at their ends, until the caller has enough.

        Raises EngineFailed if the engine ends, or if the answer takes too long or is too long. Time in which azero
        itself is stopped, as by Ctrl-Z, does not count.
        """
        left_s = most_s = self.most_seconds + self._more_seconds
        now = time.monotonic()
        num_characters = 0
        while True:
            if left_s <= 0:  # even if there are lines: an engine may write without end
                raise self._given_up(f"did not answer {shorten(command)!r} within {most_s:g} s")
            try:
                line = self._lines.get(timeout=min(left_s, _LOOK_S))
            except queue.Empty:
                line = None
            before, now = now, time.monotonic()
            left_s -= min(now - before, _LOOK_S)
            if line is None:
                continue
            num_characters += len(line)
            if num_characters > self.longest_answer:
                raise self._given_up(f"answered {shorten(command)!r} with more than {self.longest_answer:,} characters")
            if not line:
                self._lines.put(line)  # for the next call
                raise self._ended(command)
            yield line.strip()

    def _ended(self, command: str) -> EngineFailed:
        self._end()
        return EngineFailed(f"agent {self.name!r}: the engine ended before {shorten(command)!r} was answered")

    def _given_up(self, why: str) -> EngineFailed:
        """Ends the engine, since a late answer would be taken for that to another command; returns the error."""
        self._end()
        return EngineFailed(f"agent {self.name!r}: the engine {why}")


class EnginePlayer(GamePlayer):
    """Plays an engine's games one after another."""

    agent: EngineAgent
    plays_side_by_side = False

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        super().start(num_slots, states, first_game)
        self.agent.begin_game()

    def start_clock(self) -> None:
        super().start_clock()
        self.agent.begin_game()

    def _play_on_clock(self, state: State, clock: Clock) -> Suggestion:
        with self.agent.waiting_for(clock.left_s):
            return self.agent.suggest_on_clock(state, clock)


def shorten(text: str) -> str:
    """Returns a command or an answer for a message."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 3]}..."
