"""Work a second: of one thread, of several at once, of contestants that take turns."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np

Work = Callable[[], int]
"""Does some work; returns how many units."""

Measure = Callable[[float], float]
"""Takes so many seconds; returns units a second."""

NUM_TURNS = 5
"""Odd, so that the median is one of them."""

Key = TypeVar("Key")


def rate(work: Work, seconds: float) -> float:
    """Returns the units a second of `work`, after one call to warm up: of one more, however few the seconds."""
    work()
    begin = time.perf_counter()
    done = work()
    while (elapsed := time.perf_counter() - begin) < seconds:
        done += work()
    return done / elapsed


def rate_of_threads(works: Sequence[Work], seconds: float) -> float:
    """Returns the units a second of all works together, each on a thread of its own."""
    with ThreadPoolExecutor(len(works)) as threads:
        return sum(threads.map(partial(rate, seconds=seconds), works))


def rates_in_turns(contestants: Mapping[Key, Measure], seconds: float) -> dict[Key, list[float]]:
    """Returns the rates of each contestant, turn by turn; each has `seconds` in all.

    What else a machine does comes and goes. It falls on neighbours in time alike, so a ratio is taken within a turn.
    """
    rates: dict[Key, list[float]] = {key: [] for key in contestants}
    for _ in range(NUM_TURNS):
        for key, measure in contestants.items():
            rates[key].append(measure(seconds / NUM_TURNS))
    return rates


def median_ratio(rates: Sequence[float], others: Sequence[float]) -> float:
    """Returns the median over turns of the ratio of two rates."""
    return float(np.median(np.divide(rates, others)))
