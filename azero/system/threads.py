"""Distribution of a search's trees over threads."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from typing import TypeVar

Room = TypeVar("Room")


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
