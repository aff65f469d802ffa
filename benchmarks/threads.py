"""Measures the search of one position with a net on several threads, as a ratio to the bare net.

    python benchmarks/threads.py --threads 2 --games connect_four "go(size=9)" gomoku

The net of each game has 5 blocks of 64 channels and random weights. The bare net runs on as many threads, with the rows
in a pass that serve it best. The search has no proofs and no cache, so each simulation needs the net; its leaves and
passes are those of agents. The bare net, a search on one thread and a search on all threads take turns, and `uct` on
one thread and on all. The figures are medians of simulations a second.
"""

import argparse
import statistics
import threading
import time
from collections.abc import Callable

import numpy as np

from azero import make_agent, make_game
from azero.arena.agents.names import BATCHES
from azero.arena.agents.search_agent import VISITS_PER_LEAF
from azero.config.schema import DeviceConfig, NetConfig
from azero.games import Game
from azero.mcts import Puct, Settings, TreeSearch
from azero.nets.architectures.contract import Net
from azero.nets.evaluator import NetEvaluator
from azero.nets.make import make_net
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.session_evaluator import evaluator_of_sizes

ROWS = (8, 16, 32, 64, 128)
SECONDS = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--games", nargs="+", default=["connect_four", "go(size=9)", "gomoku"])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    threads = options.threads
    print(f"{'game':16}{'rows':>6}{'bare net/s':>12}{'1 thread/s':>12}{f'{threads} threads/s':>13}", end="")
    print(f"{'of the net':>12}{'uct/s':>14}{f'{threads} threads':>12}")
    for game in map(make_game, options.games):
        net = make_net(NetConfig(), game)
        rows = max(ROWS, key=lambda rows: rate_of(bare(net, game, rows, threads)))
        runs = [bare(net, game, rows, threads), *(searching(net, game, each) for each in (1, threads))]
        runs += [uct(game, each) for each in (1, threads)]
        rates = [[rate_of(run) for run in runs] for _ in range(options.repeats)]
        nets, one, several, plain, _ = (statistics.median(each) for each in zip(*rates, strict=True))
        ratio = statistics.median(each[2] / each[0] for each in rates)
        times = statistics.median(each[4] / each[3] for each in rates)
        print(f"{game!s:16}{rows:6}{nets:12,.0f}{one:12,.0f}{several:13,.0f}", end="")
        print(f"{100 * ratio:11.0f}%{plain:14,.0f}{times:11.2f}x", flush=True)


def rate_of(run: Callable[[float], int]) -> float:
    """Returns the evaluations or simulations a second of a run for `SECONDS`."""
    begin = time.perf_counter()
    return run(SECONDS) / (time.perf_counter() - begin)


def bare(net: Net, game: Game, rows: int, num_threads: int) -> Callable[[float], int]:
    """Returns a function that evaluates on all threads for some seconds, and returns how many positions."""
    evaluator = NetEvaluator(net, DeviceConfig(), rows, num_threads)
    planes = np.resize(sample_positions(game), (rows, *game.planes_shape))

    def run(seconds: float) -> int:
        counts, end = [0] * num_threads, time.perf_counter() + seconds

        def work(number: int) -> None:
            while time.perf_counter() < end:
                evaluator.evaluate(planes)
                counts[number] += rows

        threads = [threading.Thread(target=work, args=(number,)) for number in range(num_threads)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return sum(counts)

    run(0.1)
    return run


def searching(net: Net, game: Game, num_threads: int) -> Callable[[float], int]:
    """Returns a function that searches the initial position for some seconds, and returns how many simulations."""
    evaluator = evaluator_of_sizes([NetEvaluator(net, DeviceConfig(), rows, num_threads) for rows in BATCHES])
    leaves = BATCHES[-1] * num_threads
    settings = Settings(
        is_proving=False, is_rollout_only=False, leaves_per_tree=leaves, visits_per_leaf=VISITS_PER_LEAF
    )
    search = TreeSearch(game, Puct(), settings, evaluator, threads_per_tree=num_threads)
    search.prepare()

    def run(seconds: float) -> int:
        search.start(0, game.new_initial_state(), seed=0)
        search.run([0], 1 << 30, seconds)
        return int(search.forest.trees.simulations[0])

    run(0.1)
    return run


def uct(game: Game, num_threads: int) -> Callable[[float], int]:
    """Returns a function that suggests a move with plain UCT for some seconds, and returns how many simulations."""
    agent = make_agent("uct(prove=false)", game, threads=num_threads)
    state = game.new_initial_state()

    def run(seconds: float) -> int:
        return agent.suggest(state, seconds=seconds).simulations

    run(0.1)
    return run


if __name__ == "__main__":
    main()
