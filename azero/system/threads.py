"""Work within a process: shared among threads, or in slices, between which other work can come."""

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from typing import TypeVar

T = TypeVar("T")
Room = TypeVar("Room")

Slices = Generator[None, None, T]
"""Work in slices whose result is a T. Whoever stops asking for slices has given it up."""

SLICE_S = 0.05
"""About how long a slice should take, in seconds."""


def finish(work: Slices[T]) -> T:
    """Does all slices of some work without a pause; returns its result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value


def share_among_threads(
    trees: Sequence[int],
    rooms: Sequence[Room],
    work: Callable[[Sequence[int], Room, threading.Event], None],
    pool: ThreadPoolExecutor | None = None,
) -> None:
    """Runs `work` in one thread per room, each with its share of the trees; returns when all are done.

    Args:
      trees: numbers of trees.
      rooms: the memory of each thread.
      work: gets its trees, its room, and an event; it returns early once the event is set.
      pool: its threads, for a caller that calls often; otherwise threads are started for this call.
    """
    is_halted = threading.Event()
    if len(rooms) == 1:
        work(trees, rooms[0], is_halted)
        return
    with nullcontext(pool) if pool else ThreadPoolExecutor(len(rooms)) as threads:
        shares: list[Future[None]] = []
        try:
            for k, room in enumerate(rooms):
                shares.append(threads.submit(work, trees[k :: len(rooms)], room, is_halted))
            for share in shares:
                share.result()
        finally:  # after Ctrl-C the threads, which receive no signal, end soon
            is_halted.set()
            wait(shares)
