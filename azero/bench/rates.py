"""Rates of work: of one thread, of several threads, and of contestants that take turns."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import numpy as np

Work = Callable[[], int]
"""Does some work; returns the number of units done."""

Measure = Callable[[float], float]
"""Measures for the given number of seconds; returns units per second."""

NUM_TURNS = 5
"""Number of turns. It is odd, so that the median is one of them."""

Key = TypeVar("Key")


def rate(work: Work, seconds: float) -> float:
    """Returns the units per second of `work`, after one warm-up call. At least one call is measured."""
    work()
    begin = time.perf_counter()
    done = work()
    while (elapsed := time.perf_counter() - begin) < seconds:
        done += work()
    return done / elapsed


def per_computed_s(measure: Callable[[], float]) -> float:
    """Returns a rate that one thread has measured, per second of computing. Waiting does not count."""
    elapsed, computed = time.perf_counter(), time.process_time()
    measured = measure()
    elapsed, computed = time.perf_counter() - elapsed, time.process_time() - computed
    return measured * elapsed / max(computed, 1e-6)


def rate_of_threads(works: Sequence[Work], seconds: float) -> float:
    """Returns the units per second of all works together, each on a separate thread."""
    with ThreadPoolExecutor(len(works)) as threads:
        return sum(threads.map(partial(rate, seconds=seconds), works))


def rates_in_turns(contestants: Mapping[Key, Measure], seconds: float) -> dict[Key, list[float]]:
    """Returns the rates of each contestant in all turns. Each contestant runs `seconds` in all.

    Other load on the machine varies with time, so ratios are taken within a turn.
    """
    rates: dict[Key, list[float]] = {key: [] for key in contestants}
    for _ in range(NUM_TURNS):
        for key, measure in contestants.items():
            rates[key].append(measure(seconds / NUM_TURNS))
    return rates


def median_ratio(rates: Sequence[float], others: Sequence[float]) -> float:
    """Returns the median over turns of the ratio of two rates."""
    return float(np.median(np.divide(rates, others)))
