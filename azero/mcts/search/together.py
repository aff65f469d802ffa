"""Several threads search the same trees: they take turns in the trees, and evaluate their leaves side by side.

A turn backs up a thread's last batch and collects the next one. Visits in flight lead the threads to different leaves.
The order of turns differs from run to run, and so do the trees.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from azero.mcts.search.deadline import Deadline
from azero.mcts.search.lockstep import Answer, Walker

_PAUSE_S = 5e-5
"""Between turns of a thread that found no leaf, because all that it can reach wait for other threads."""


class Crew:
    """Threads with a walker each. All walkers have the same slots and trees.

    Args:
      evaluate: takes planes [R, C, H, W] float32; several threads call it at the same time.
    """

    def __init__(self, walkers: Sequence[Walker], evaluate: Callable[[np.ndarray], Answer], num_actions: int):
        self._walkers, self._evaluate = walkers, evaluate
        self._no_answer = np.zeros((0, num_actions), np.float32), np.zeros(0, np.float32)
        self._pool = ThreadPoolExecutor(len(walkers))

    def run(self, deadline: Deadline) -> None:
        """Searches in the open slots until they are finished or the deadline has passed."""
        is_halted = threading.Event()
        shares = [self._pool.submit(self._work, walker, deadline, is_halted) for walker in self._walkers]
        try:
            for share in shares:
                share.result()
        finally:  # after Ctrl-C the threads, which receive no signal, end after their turns
            is_halted.set()
            for share in shares:
                share.exception()

    def _work(self, walker: Walker, deadline: Deadline, is_halted: threading.Event) -> None:
        """Takes turns. All changes of the trees are in `take_turn`, which no other thread interrupts."""
        answer = self._no_answer
        try:
            while not is_halted.is_set():
                is_last = len(answer[1]) > 0 and deadline.has_passed()
                walker.take_turn(answer, is_last)
                if len(walker.planes):
                    answer = self._evaluate(walker.planes)
                elif is_last or deadline.has_passed() or not walker.slots.is_open.any():
                    return
                else:
                    answer = self._no_answer
                    time.sleep(_PAUSE_S)
        except BaseException:
            is_halted.set()  # the others would wait for this thread's leaves
            raise
