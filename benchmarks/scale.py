"""What a run costs on 10 to 10,000 workers, by a model: writes the tables of docs/scale.md from docs/scale.json.

    python benchmarks/cluster.py measure RUN    measures the times, and writes docs/scale.json
    python benchmarks/scale.py                  writes the tables

The model is a discrete-event simulation of a pool of tasks and of the stages of an iteration: workers play shards; the
driver, one process, gives out tasks and takes in answers.
"""

import heapq
import json
import math
import re
import statistics
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from azero.system.process_backend import MOST_AHEAD


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


ROOT = Path(__file__).resolve().parent.parent
FIGURES, PAGE = ROOT / "docs" / "scale.json", ROOT / "docs" / "scale.md"

WORKERS = 10, 100, 1_000, 10_000
LINK = 1.25e9  # bytes per second of 10 Gbit/s
CORES = 16  # of a node
GAMES_PER_WORKER = 64  # of an iteration
HEAVY = 100.0  # how many times longer a game takes: 9x9 Go at 800 simulations, for example
SAMPLES, BATCH = 6, 256  # of connect_four_quick
KINDS = {"here 1": "local pool, 1 worker", "local 2": "local pool, 2 workers"} | {
    "ray 1": "Ray, 1 worker",
    "ray 2": "Ray, 2 workers",
}


def predict(figures: dict, kind: str, turn: int) -> Played:
    """Returns what the model says of a turn, from the times that its workers needed for each shard."""
    turns, own = figures["turns"][kind], figures["driver"]
    times = np.array(turns[turn]["times_s"])
    if kind == "here 1":
        return play_here(times, own["local_s"] + own["disk_s"])
    if kind == "local 2":
        return play(times, 2, Driver(0.0, own["local_s"], 0.0, own["disk_s"]), 0, 0.0)
    return play(times, int(kind[-1]), driver_of(figures), figures["shard_bytes"], figures["gap_s"])


def driver_of(figures: dict) -> Driver:
    """Returns the driver of a cluster."""
    own = figures["driver"]
    return Driver(own["submit_s"], own["answer_s"], own["byte_s"], own["disk_s"])


def table_of_small(figures: dict) -> list[str]:
    """Returns the comparison of the model with what was measured."""
    rows = ["| workers | measured | model | model / measured |", "|---|---|---|---|"]
    for kind, title in KINDS.items():
        turns = figures["turns"][kind]
        measured = [each["elapsed_s"] for each in turns]
        said = [predict(figures, kind, turn).elapsed_s for turn in range(len(turns))]
        here, there = statistics.median(measured), statistics.median(said)
        rows.append(f"| {title} | {here:.1f} s | {there:.1f} s | {there / here:.2f} |")
    return rows


def table_of_costs(figures: dict) -> list[str]:
    """Returns the measured service times."""
    own, game = figures["driver"], figures["shard_bytes"] / figures["shard_games"]
    return [
        "| what | measured |",
        "|---|---|",
        f"| a game, of {figures['game_positions']:.0f} positions | {game:,.0f} bytes |",
        f"| a game, for a worker on one core | {figures['game_s']:.2f} s |",
        f"| to give out a task, driver's processor | {1e3 * own['submit_s']:.2f} ms |",
        f"| to take in an answer, driver's processor | {1e3 * own['answer_s']:.2f} ms |",
        f"| and for each megabyte of it | {1e9 * own['byte_s']:.2f} ms |",
        f"| until the file of a shard is on the disk | {1e3 * own['disk_s']:.1f} ms |",
        f"| between two tasks of a worker | {1e3 * figures['gap_s']:.0f} ms |",
        f"| the net | {figures['net_bytes'] / 1e6:.2f} MB |",
        f"| a training step of {BATCH} positions, 2 cores | {1e3 * figures['step_s']:.0f} ms |",
        f"| a gate of 40 games, 2 cores | {figures['gate_s']:.1f} s |",
    ]


def table_of_large(figures: dict, heavy: float, shard_games: int) -> list[str]:
    """Returns what iterations cost on many workers, whose games take `heavy` times as long as the measured ones."""
    rows = [
        "| workers | self-play | limit by workers | driver at work | workers play | received | net sent | "
        "replay | trainers to keep up |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    game_bytes = figures["shard_bytes"] / figures["shard_games"]
    driver = driver_of(figures)
    for num_workers in WORKERS:
        num_games = GAMES_PER_WORKER * num_workers
        times = shard_times(heavy * figures["game_s"] * shard_games, figures["variation"], num_games // shard_games)
        nodes = -(-num_workers // CORES)
        sent_s = broadcast_s(figures["net_bytes"], nodes, LINK)
        found = play(times, num_workers, driver, shard_games * game_bytes, figures["gap_s"], sent_s)
        train_s = num_games * figures["game_positions"] * SAMPLES / BATCH * figures["step_s"]
        window = 5 * num_games * game_bytes  # of five iterations
        rows.append(
            f"| {num_workers:,} | {_time(found.elapsed_s)} | {_time(float(times.sum()) / num_workers)} | "
            f"{found.driver_s / found.elapsed_s:.1%} | {found.worker_share:.0%} | {_size(num_games * game_bytes)} | "
            f"{_size(nodes * figures['net_bytes'])} | {_size(window)} | {train_s / found.elapsed_s:,.1f} |"
        )
    return rows


def table_of_limits(figures: dict) -> list[str]:
    """Returns at how many workers the driver is at work all the time, by games per shard and time per game."""
    driver, game_bytes = driver_of(figures), figures["shard_bytes"] / figures["shard_games"]
    sizes = 1, 8, 32, 128
    rows = ["| games per shard | " + " | ".join(map(str, sizes)) + " |", "|---" * (len(sizes) + 1) + "|"]
    for name, heavy in (("games as measured", 1.0), (f"games of {HEAVY:.0f} times as long", HEAVY)):
        limits = [
            heavy * figures["game_s"] * size / (driver.submit_s + driver.intake_s(size * game_bytes)) for size in sizes
        ]
        rows.append(f"| {name} | " + " | ".join(f"{_round(limit):,}" for limit in limits) + " |")
    return rows


def table_of_ahead(figures: dict) -> list[str]:
    """Returns the time of an iteration by the number of workers, with and without play ahead."""
    rows = ["| workers | self-play | training and gate | in turns | beside each other |", "|---|---|---|---|---|"]
    driver, num_games, size = driver_of(figures), 500, 25
    train_s = num_games * figures["game_positions"] * SAMPLES / BATCH * figures["step_s"]
    for num_workers in (1, 2, 5, 10, 20):
        times = shard_times(figures["game_s"] * size, figures["variation"], num_games // size)
        game_bytes = figures["shard_bytes"] / figures["shard_games"]
        play_s = play(times, num_workers, driver, size * game_bytes, figures["gap_s"]).elapsed_s
        both = [_time(iteration_s(play_s, train_s, figures["gate_s"], ahead)) for ahead in (False, True)]
        rows.append(
            f"| {num_workers} | {_time(play_s)} | {_time(train_s + figures['gate_s'])} | {both[0]} | {both[1]} |"
        )
    return rows


def page_with_tables(page: str, figures: dict) -> str:
    """Returns the page with its tables, each of which comes after a comment with its name and an empty line."""
    tables = {
        "costs": table_of_costs(figures),
        "small": table_of_small(figures),
        "large": table_of_large(figures, 1.0, 32),
        "heavy": table_of_large(figures, HEAVY, 8),
        "limits": table_of_limits(figures),
        "ahead": table_of_ahead(figures),
    }
    for name, rows in tables.items():
        page = re.sub(
            rf"(<!-- scale\.py: {name} -->\n\n)(?:\|.*\n)*\n?",
            lambda found, rows=rows: found[1] + "\n".join(rows) + "\n\n",
            page,
        )
    return page


def _time(seconds: float) -> str:
    for most, unit, name in ((100, 1, "s"), (6000, 60, "min")):
        if seconds < most:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds / 3600:.1f} h"


def _size(num: float) -> str:
    return f"{num / 1e6:.1f} MB" if num < 1e8 else f"{num / 1e9:.1f} GB"


def _round(num: float) -> int:
    return int(float(f"{num:.2g}"))


if __name__ == "__main__":
    PAGE.write_text(page_with_tables(PAGE.read_text(), json.loads(FIGURES.read_text())))
