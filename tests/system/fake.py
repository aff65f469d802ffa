"""A cluster that is none: attempts are made in this process, and a test says what becomes of them."""

import pickle
import threading
import time
from collections.abc import Callable

from azero.system.local_backend import local_host
from azero.system.process_backend import Begun, Death, Event, Progress, Refused
from azero.system.worker_side import Answer, do_task

Fate = Callable[[int, str, Answer], Answer | Refused | Death | None]
"""What becomes of the answer to a task, by how often the task has been attempted before, and the node.

None: the attempt reports that 1 is done, and nothing more.
"""


def honest(before: int, node: str, answer: Answer) -> Answer | Refused | Death | None:
    return answer


class FakeCluster:
    """Nodes with one worker each.

    Args:
      begins_after_s: how long an attempt waits before it begins.
      takes_s: how long it then takes.

    Attributes:
      attempts: place of each attempt's task, and the node.
      cancelled: the attempts that were ended.
      events: of each attempt, those that are still to come.
    """

    is_cluster, most_ahead = True, 1000

    def __init__(
        self,
        fate: Fate = honest,
        nodes: str = "ab",
        begins_after_s: float = 0,
        takes_s: float = 0,
        is_mixed: bool = False,
    ):
        self._fate, self._nodes, self.is_mixed = fate, nodes, is_mixed
        self._delays = [begins_after_s, takes_s]
        self._due: dict[int, list[float]] = {}
        self.events: dict[int, list[Begun | Progress | Answer | Refused | Death]] = {}
        self.attempts: list[tuple[int, str]] = []
        self.cancelled: list[int] = []
        self._lock = threading.Lock()  # several threads may ask

    def slots(self):
        return dict.fromkeys(self._nodes, 1)

    def share(self, name, packed):
        return name, packed

    def submit(self, shared, place, task, title, avoided):
        before = sum(each == place for each, _ in self.attempts)
        free = [each for each in self._nodes if each not in avoided]
        node = free[(place + before) % len(free)]
        with self._lock:
            self.attempts.append((place, node))
            number = len(self.attempts)
        answer = do_task(*shared, place, task, node)
        fate = self._fate(before, node, answer)
        self._due[number] = [time.monotonic() + sum(self._delays[:each]) for each in (1, 2)]
        self.events[number] = [Begun(node), Progress(1) if fate is None else fate]
        return number

    def wait(self, attempts, timeout_s):
        time.sleep(0.001)
        return [Event(each, self.events[each].pop(0)) for each in attempts if self._is_due(each)]

    def _is_due(self, attempt):
        has_event = bool(self.events[attempt]) and time.monotonic() >= self._due[attempt][0]
        if has_event and len(self._due[attempt]) > 1:
            self._due[attempt].pop(0)
        return has_event

    def cancel(self, attempt):
        self.cancelled.append(attempt)

    def launch(self, num_processes):
        return local_host(num_processes)

    def end(self):
        pass


def damaged(answer: Answer) -> Answer:
    """Returns an answer whose bytes have changed on their way."""
    return answer._replace(data=pickle.dumps(10**6))
