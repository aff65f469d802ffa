"""Distribution of a search's trees over threads."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Room = TypeVar("Room")


def share_among_threads(
    trees: Sequence[int], rooms: Sequence[Room], work: Callable[[Sequence[int], Room, threading.Event], None]
) -> None:
    """Runs `work` in one thread per room, each with its share of the trees; returns when all are done.

    Args:
      trees: numbers of trees.
      rooms: the memory of each thread.
      work: gets its trees, its room, and an event; it returns early once the event is set.
    """
    is_halted = threading.Event()
    if len(rooms) == 1:
        work(trees, rooms[0], is_halted)
        return
    with ThreadPoolExecutor(len(rooms)) as pool:
        try:
            shares = [pool.submit(work, trees[k :: len(rooms)], room, is_halted) for k, room in enumerate(rooms)]
            for share in shares:
                share.result()
        finally:  # after Ctrl-C the pool waits for its threads, which receive no signal
            is_halted.set()
