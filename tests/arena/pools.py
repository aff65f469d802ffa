"""Pools for tests."""

import random


class Shuffled:
    """A pool in this process that does its tasks in another order. It stops after `most` of them, as by Ctrl-C."""

    def __init__(self, most=10_000, is_mixed=False):
        self.most, self.done, self.is_mixed, self.shared = most, 0, is_mixed, None

    def run(self, work, tasks, on_progress=lambda num: None, shared=None, title="task"):
        self.shared, places = shared, list(range(len(tasks)))
        random.Random(1).shuffle(places)
        for place in places:
            if self.done == self.most:
                raise KeyboardInterrupt
            self.done += 1
            yield place, work(shared, tasks[place], on_progress)
