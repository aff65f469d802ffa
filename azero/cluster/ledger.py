"""What the attempts at tasks have counted, for metrics and for the lines that people read."""

import copy
import threading
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass
class Attempt:
    """An attempt that is under way."""

    place: int
    made: float  # in seconds, by this process's clock
    begun: float | None = None
    node: str = ""


@dataclass
class Ledger:
    """What the attempts of all calls have counted. Several threads may have a call at the same time.

    Attributes:
      deaths: attempts that have ended without an answer.
      again: attempts at tasks that had been attempted before.
      bytes_in: bytes of the answers.
      bytes_out: bytes of the tasks, and of what tasks have in common.
      begun: attempts that have begun on a worker.
      queued_s: how long these had waited before, in all.
      busy_s: how long workers had attempts that have ended, in all.
      done: what the work has reported, by node.
      refused: how nodes differ that may not work for this driver.
      attempts: those that are under way.
      lock: is held while counts change.
    """

    deaths: int = 0
    again: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    begun: int = 0
    queued_s: float = 0.0
    busy_s: float = 0.0
    done: Counter[str] = field(default_factory=Counter)
    refused: dict[str, str] = field(default_factory=dict)
    attempts: dict[Hashable, Attempt] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, **counts: float) -> None:
        """Adds to the counts of these names."""
        with self.lock:
            for name, num in counts.items():
                setattr(self, name, getattr(self, name) + num)

    def add_done(self, node: str, num: int) -> None:
        """Adds to what the work has reported on a node."""
        with self.lock:
            self.done[node] += num

    def counts(self) -> "Ledger":
        """Returns a copy, whose counts stay as they are now."""
        with self.lock:
            copied = copy.copy(self)
            copied.done = Counter(self.done)
        return copied

    def running(self) -> Counter[str]:
        """Returns the number of attempts under way on each node, and of those that have not begun under ""."""
        with self.lock:
            return Counter(attempt.node for attempt in self.attempts.values())
