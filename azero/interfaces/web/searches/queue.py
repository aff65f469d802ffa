"""`JobQueue`: one thread in which searches take turns, slice by slice, so that clients share the machine fairly."""

import threading
import time
from abc import ABC, abstractmethod


class Job(ABC):
    """Work in slices.

    Attributes:
      client: whose work it is; clients share the time equally, and each one's jobs its own share.
      is_stopped: whether its client has gone, so that its next slice is its last, and comes at once.
      used_s: what its slices cost, counted from the least of the jobs that were there when it came.
    """

    def __init__(self, client: str):
        self.client = client
        self.is_stopped = False
        self.used_s = 0.0

    def stop(self) -> None:
        """Ends it. Any thread may call this."""
        self.is_stopped = True

    def cost(self, elapsed_s: float) -> float:
        """Returns what the last slice cost, in seconds: by default the time that it took."""
        return elapsed_s

    @abstractmethod
    def take(self) -> bool:
        """Does a slice of the work; returns whether there is more. It raises nothing."""


class JobQueue:
    """A queue, and the thread that works on it. The client whose slices have cost the least is next."""

    def __init__(self, name: str):
        self._waiting: list[Job] = []
        self._clients: dict[str, float] = {}  # seconds used, of the clients that have jobs
        self._change = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def add(self, job: Job) -> None:
        """Adds a job. It has no claim to the time before it came."""
        with self._change:
            own = [each.used_s for each in self._waiting if each.client == job.client]
            job.used_s = min(own, default=0.0)
            if job.client not in self._clients:
                self._clients[job.client] = min(self._clients.values(), default=0.0)
            self._waiting.append(job)
            self._change.notify()

    def close(self) -> None:
        """Ends the thread after the present slice."""
        with self._change:
            self._is_closed = True
            self._change.notify()

    def wait(self, seconds: float) -> bool:
        """Waits for the end of the thread, at most so long; returns whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _rank(self, job: Job) -> tuple[bool, float, float]:
        """Returns what is least for the next job."""
        return not job.is_stopped, self._clients[job.client], job.used_s

    def _run(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._waiting or self._is_closed)
                if self._is_closed:
                    return
                job = min(self._waiting, key=self._rank)
            begin = time.perf_counter()
            has_more = job.take()
            cost = job.cost(time.perf_counter() - begin)
            with self._change:
                job.used_s += cost
                self._clients[job.client] += cost
                if not has_more:
                    self._waiting.remove(job)
                    if all(each.client != job.client for each in self._waiting):
                        del self._clients[job.client]
