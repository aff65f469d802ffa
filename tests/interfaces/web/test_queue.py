"""Tests of jobs in a queue and of outboxes: who is next, and what waits for a slow reader."""

import asyncio
import threading

from azero.interfaces.web.searches.queue import Job, JobQueue
from azero.interfaces.web.searches.stream import Outbox


class Counting(Job):
    """A job of a number of slices, each of which costs the same."""

    def __init__(self, client: str, name: str, log: list[str], left: int, cost: float = 1.0):
        super().__init__(client)
        self.name, self.left, self.slice_cost = name, left, cost
        self.log, self.is_over = log, threading.Event()

    def cost(self, elapsed_s: float) -> float:
        return self.slice_cost

    def take(self) -> bool:
        self.log.append(self.name)
        self.left -= 1
        if self.left and not self.is_stopped:
            return True
        self.is_over.set()
        return False


def run(*jobs: Counting) -> None:
    """Runs jobs that all wait from the beginning."""
    gate = Counting("gate", "", [], 1)
    begun = threading.Event()
    gate.take = lambda: begun.wait() and False  # type: ignore[method-assign]
    queue = JobQueue("test")
    queue.add(gate)
    for each in jobs:
        queue.add(each)
    begun.set()
    for each in jobs:
        assert each.is_over.wait(10)
    queue.close()


def test_clients_share_equally_and_each_shares_among_its_own():
    log: list[str] = []
    run(*(Counting("many", name, log, 20) for name in "abcd"), Counting("one", "x", log, 20))
    first = log[:32]
    assert abs(first.count("x") - 16) <= 1 and all(abs(first.count(name) - 4) <= 1 for name in "abcd")


def test_whose_slices_cost_more_gets_fewer():
    log: list[str] = []
    run(Counting("one", "x", log, 10, cost=3.0), Counting("two", "y", log, 30))
    assert abs(log[:20].count("y") - 15) <= 1


def test_who_comes_late_has_no_claim_to_the_time_before():
    log: list[str] = []
    queue = JobQueue("test")
    early, late = Counting("a", "early", log, 1 << 40), Counting("b", "late", log, 20)
    queue.add(early)
    while len(log) < 1000:
        pass
    queue.add(late)
    assert late.is_over.wait(10)
    early.stop()
    queue.close()
    since = log[log.index("late") :]
    assert since[:20].count("early") >= 8


def test_whose_client_has_gone_ends_at_once():
    log: list[str] = []
    gone, other = Counting("a", "gone", log, 50, cost=100.0), Counting("b", "other", log, 50)
    gone.stop()
    run(gone, other)
    assert log.count("gone") == 1 and log.index("gone") == 0


def texts_of(loop: asyncio.AbstractEventLoop, outbox: Outbox) -> str:
    async def read() -> str:
        return b"".join([text async for text in outbox.texts()]).decode()

    return loop.run_until_complete(read())


def test_only_the_newest_report_waits_for_a_slow_reader():
    loop = asyncio.new_event_loop()
    outbox, review = Outbox(loop), Outbox(loop, keeps_all=True)
    for each in (outbox, review):
        for number in range(1000):
            each.put("update", {"number": number})
        each.put("done", {}, is_last=True)
        each.put("update", {"number": -1})
    assert texts_of(loop, outbox) == 'event: update\ndata: {"number":999}\n\nevent: done\ndata: {}\n\n'
    assert texts_of(loop, review).count("event: update") == 1000
    loop.close()
