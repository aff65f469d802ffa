"""Trees of a search shared out among threads."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Room = TypeVar("Room")


def share_among_threads(
    trees: Sequence[int], rooms: Sequence[Room], work: Callable[[Sequence[int], Room, threading.Event], None]
) -> None:
    """Lets each of the `rooms` have a thread, and its share of the trees; returns when all are done.

    `work` is given some trees, a room, and an event that tells it to stop.
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
        finally:  # after Ctrl-C the pool waits for its threads, which do not hear of it otherwise
            is_halted.set()
