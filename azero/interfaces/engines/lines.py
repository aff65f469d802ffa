"""The lines between azero and the program that drives it: read in a thread, written at once, and kept in a log."""

import queue
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO, Generic, TypeVar

from azero.errors import BadInput
from azero.system.console import say

Event = TypeVar("Event")
Taken = TypeVar("Taken")

_LONGEST = 1 << 20  # bytes of a line; what is beyond is not read
_MOST_WAITING = 1000  # lines; whoever writes more has to wait
PART = 1 << 16
"""Bytes of the input that are read at once, at most."""


class Log:
    """What went in and out, each line with its time.

    Args:
      path: the file, to which lines are added; None: nothing is kept.
    """

    def __init__(self, path: Path | None = None):
        try:
            self._file = path.open("a", encoding="utf-8", buffering=1) if path else None
        except OSError as error:
            raise BadInput(f"--log {str(path)!r} cannot be written: {error.strerror or error}") from None
        self._begin_s = time.perf_counter()
        self._lock = threading.RLock()
        self.note("#", time.strftime("begins at %Y-%m-%d %H:%M:%S"))

    def note(self, mark: str, text: str) -> None:
        """Adds a line. `mark` is `<` for input, `>` for output, `#` for the rest."""
        with self._lock:
            if self._file is not None:
                try:
                    self._file.write(f"{time.perf_counter() - self._begin_s:10.3f} {mark} {text}\n")
                except OSError as error:  # a full disk ends no game
                    self._file = None
                    say(f"the log ends here: {error.strerror or error}")

    def close(self) -> None:
        """Closes the file. What comes later is not kept."""
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                file.close()


class Lines(Generic[Event]):
    """Lines of input, and the events of searches between them, in the order in which they came.

    Args:
      source: returns the next bytes of the input; none at its end.
      target: the output.

    Attributes:
      is_over: whether the input has ended.
    """

    def __init__(self, source: Callable[[], bytes], target: IO[str], log: Log):
        self._source, self._target, self.log = source, target, log
        self._events: queue.SimpleQueue[str | Event | None] = queue.SimpleQueue()
        self._later: deque[str] = deque()
        self._offered: Event | None = None  # not taken yet
        self._room = threading.Semaphore(_MOST_WAITING)
        self._writing = threading.RLock()  # a log that ends says so on stderr, which may lead here again
        self.is_over = False
        threading.Thread(target=self._read, daemon=True).start()

    def put(self, event: Event) -> None:
        """Adds an event. Any thread may do so."""
        self._events.put(event)

    def offer(self, event: Event) -> None:
        """Adds an event, unless the last one that was offered is not taken yet: whoever does not read gets fewer."""
        if self._offered is None:
            self._offered = event
            self._events.put(event)

    def next(self) -> str | Event | None:
        """Returns the next line or event; None if the input has ended. It waits for one."""
        if self._later:
            return self._taken(self._later.popleft())
        event = None if self.is_over else self._events.get()
        return self._taken(event)

    def put_back(self, line: str) -> None:
        """Lets a line be the next one again."""
        self._room.acquire(blocking=False)
        self._later.appendleft(line)

    def event(self, timeout: float | None = None) -> Event | None:
        """Returns the next event; None if there is none in so many seconds. Lines before it wait for `next`."""
        while True:
            try:
                event = self._events.get(timeout=timeout)
            except queue.Empty:
                return None
            if event is None:
                self.is_over = True
                return None
            if not isinstance(event, str):
                return self._taken(event)
            self._later.append(event)

    @property
    def is_used_up(self) -> bool:
        """Whether the input has ended, and nothing of it is left."""
        return self.is_over and not self._later

    @property
    def is_abandoned(self) -> bool:
        """Whether the input has ended, and nothing of it is left, or nobody reads the output any more."""
        return self.is_over and (not self._later or self.is_unread())

    def is_unread(self) -> bool:
        """Returns whether the output is a pipe that nobody reads. Only POSIX systems tell."""
        if sys.platform == "win32":
            return False
        try:
            poll = select.poll()
            poll.register(self._target.fileno(), 0)
            return any(events & (select.POLLERR | select.POLLNVAL) for _, events in poll.poll(0))
        except (OSError, ValueError):
            return False

    def has_waiting(self, text: str) -> bool:
        """Returns whether this line waits for `next`, in capitals or not."""
        return any(line.strip().upper() == text for line in self._later)

    def take(self, text: str) -> bool:
        """Takes out a line, in capitals or not, if it waits for `next`; returns whether it did."""
        for line in self._later:
            if line.strip().upper() == text:
                self._later.remove(line)
                self._taken(line)
                return True
        return False

    def _taken(self, event: Taken) -> Taken:
        if event is None:
            self.is_over = True
        elif isinstance(event, str):
            self._room.release()
        elif event is self._offered:
            self._offered = None
        return event

    def write(self, text: str) -> None:
        """Writes text at once. Any thread may do so. Raises BrokenPipeError if nobody reads any more."""
        with self._writing:
            for line in text.splitlines():
                self.log.note(">", line)
            self._target.write(text)
            self._target.flush()

    def _read(self) -> None:
        """Puts the lines of the input into the queue, without their ends. It runs in a thread."""
        begun = b""  # of a line
        while data := self._next_part():
            first, *others = data.split(b"\n")
            begun += first if len(begun) < _LONGEST else b""
            for part in others:
                self._put_line(begun)
                begun = part
        if begun:
            self._put_line(begun)
        self._events.put(None)

    def _next_part(self) -> bytes:
        try:
            return self._source()
        except (OSError, ValueError):  # the input is closed
            return b""

    def _put_line(self, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip("\r")
        self.log.note("<", text)
        self._room.acquire()
        self._events.put(text)
