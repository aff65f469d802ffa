"""Measures training steps per second with one rank and with several, in turns; each rank has as many threads.

python benchmarks/ranks.py --config connect_four --ranks 2 --threads 1

The machine needs a core for each thread. "threads" is one rank with all of these threads: what a single machine does.
"""

import argparse
import statistics
import time
from contextlib import ExitStack

import numpy as np
from training_profile import replay_of

from azero.config.reading import find_config, load_config
from azero.config.schema import Config
from azero.games import make_game
from azero.selfplay.data.replay import Replay
from azero.system.local import local_host
from azero.training.learning.rank import generators_of
from azero.training.learning.ranks import Ranks, joined_ranks
from azero.training.learning.trainer import Trainer


def rate_of(config: Config, trainer: Trainer, ranks: Ranks, replay: Replay, num_steps: int) -> float:
    """Returns the steps per second, as the training loop takes them."""
    steps = range(num_steps)
    generators = generators_of(config.seed, 1, steps)
    begin = time.perf_counter()
    with ranks.at_work(replay, 1, steps):
        for sample in replay.samples(config.training.batch_size, generators, trainer.rows):
            trainer.step(sample, 0.0)
    return num_steps / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--config", default="connect_four")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="of each rank")
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--steps", type=int, default=20, help="of each turn")
    parser.add_argument("--turns", type=int, default=5)
    arguments = parser.parse_args()

    def settings(num_ranks: int, num_threads: int) -> Config:
        changes = {"training.batch_size": arguments.batch_size, "training.precision": "fp32", "device.device": "cpu"}
        more = {"cluster.trainers": num_ranks, "device.threads": num_threads}
        return load_config(find_config(arguments.config), changes | more)

    configs = {
        "one rank": settings(1, arguments.threads),
        "ranks": settings(arguments.ranks, arguments.threads),
        "threads": settings(1, arguments.ranks * arguments.threads),
    }
    game = make_game(configs["ranks"].game.name)
    rates: dict[str, list[float]] = {name: [] for name in configs}
    with ExitStack() as stack:
        ready = {}
        for name, config in configs.items():
            trainer = Trainer(config, game)
            ranks = stack.enter_context(joined_ranks(config, game, trainer, None, local_host))
            ready[name] = config, trainer, ranks, replay_of(game, config)
            rate_of(*ready[name], 2)
        for _ in range(arguments.turns):
            for name, each in ready.items():
                rates[name].append(rate_of(*each, arguments.steps))
    for name, found in rates.items():
        ratio = statistics.median(np.divide(found, rates["one rank"]))
        print(f"{name:9}  {statistics.median(found):6.2f} steps/s   {ratio:.2f} times one rank")


if __name__ == "__main__":
    main()
