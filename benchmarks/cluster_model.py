"""A model of a run on a cluster: workers play shards; the driver, one process, gives out tasks and takes in answers.

It is a discrete-event simulation of `azero.system.pool` and the stages of an iteration. `scale.py` measures the times
that it takes, compares it with small clusters, and writes the tables of docs/scale.md.
"""

import heapq
import math
from dataclasses import dataclass

import numpy as np

from azero.system.backend import MOST_AHEAD


@dataclass(frozen=True)
class Driver:
    """Seconds that the driver, which does one thing at a time, takes.

    Attributes:
      submit_s: to give out a task.
      answer_s: to take in an answer, whatever its size.
      byte_s: for each byte of an answer: digest, unpacking, file.
      disk_s: until the file of an answer is on the disk.
    """

    submit_s: float
    answer_s: float
    byte_s: float
    disk_s: float = 0.0

    def intake_s(self, size: float) -> float:
        """Returns the seconds for an answer of so many bytes."""
        return self.answer_s + self.byte_s * size + self.disk_s


@dataclass(frozen=True)
class Played:
    """The self-play of an iteration.

    Attributes:
      elapsed_s: from its beginning to the last answer.
      driver_s: of these, the seconds in which the driver had work.
      worker_share: share of the workers' time in which they played.
    """

    elapsed_s: float
    driver_s: float
    worker_share: float


def shard_times(mean_s: float, variation: float, num: int, seed: int = 0) -> np.ndarray:
    """Returns the playing times of shards, [num] float64: log-normal, with this coefficient of variation."""
    sigma2 = math.log1p(variation**2)
    return np.random.default_rng(seed).lognormal(math.log(mean_s) - sigma2 / 2, math.sqrt(sigma2), num)


def broadcast_s(net_bytes: float, num_nodes: int, bytes_per_s: float) -> float:
    """Returns how long a net takes to all nodes: each that has it sends it on, to one node at a time."""
    return math.ceil(math.log2(num_nodes + 1)) * net_bytes / bytes_per_s


def play(
    times: np.ndarray, num_workers: int, driver: Driver, shard_bytes: float, gap_s: float, begin_s: float = 0.0
) -> Played:
    """Simulates the self-play of an iteration, a shard for each of `times`.

    The driver first gives out all tasks that the queue holds. From then on it takes in an answer, and gives out
    another task. Workers take tasks in their order.

    Args:
      times: [n] float64, seconds that each shard takes its worker.
      shard_bytes: bytes of an answer.
      gap_s: seconds between a worker's tasks, if tasks wait.
      begin_s: when the workers can begin, since they have the net.
    """
    intake_s = driver.intake_s(shard_bytes)
    free = [begin_s] * num_workers  # a heap: when workers are free
    finished: list[float] = []  # a heap: when tasks that were given out have been played
    now, given, answered = 0.0, 0, 0
    while answered < len(times):
        if given < len(times) and given - answered < num_workers + MOST_AHEAD:
            now += driver.submit_s
            end = max(free[0], now) + gap_s + times[given]
            heapq.heapreplace(free, end)
            heapq.heappush(finished, end)
            given += 1
        else:
            now = max(now, heapq.heappop(finished)) + intake_s
            answered += 1
    return Played(now, len(times) * (driver.submit_s + intake_s), float(times.sum()) / (num_workers * now))


def play_here(times: np.ndarray, intake_s: float) -> Played:
    """Returns the self-play of the local pool with one worker, which is the driver itself."""
    elapsed_s = float(times.sum()) + len(times) * intake_s
    return Played(elapsed_s, elapsed_s, float(times.sum()) / elapsed_s)


def iteration_s(play_s: float, train_s: float, gate_s: float, is_ahead: bool) -> float:
    """Returns how long an iteration takes, if self-play of the next one runs beside training and gate, or before."""
    return max(play_s, train_s + gate_s) if is_ahead else play_s + train_s + gate_s
