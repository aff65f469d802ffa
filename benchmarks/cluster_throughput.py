"""Self-play on a local Ray cluster against the local pool, in turns of one run: games per second, and their ratio.

python benchmarks/cluster_throughput.py [--turns N] [--games N] [--set SECTION.KEY=VALUE]
"""

import argparse
import statistics
import time

from azero.cluster.connection import connected
from azero.compiler.rng import derive_seed
from azero.config.reading import find_config, load_config
from azero.config.schema import Config
from azero.games.make import make_game
from azero.nets.checkpoint import weights_of
from azero.nets.make import make_net
from azero.selfplay.pool import local_pool
from azero.selfplay.tasks import Identities, PlayPlan, play_task, split_seeds
from azero.system.pool import Pool
from azero.training.learning.precision import settle_arithmetic


def games_per_s(pool: Pool, plan: PlayPlan, config: Config, turn: int, num_games: int) -> float:
    """Returns the speed of a turn. Turns of the same number play the same games."""
    seeds = [derive_seed(0, "throughput", turn, k) for k in range(num_games)]
    tasks = split_seeds(seeds, 1, config.selfplay.games_per_shard)
    begin = time.perf_counter()
    for _ in pool.run(play_task, tasks, lambda num: None, plan, "self-play"):
        pass
    return num_games / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--games", type=int, default=256, help="games of a turn")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="a setting of azero")
    options = parser.parse_args()
    config = load_config(find_config("connect_four_quick"), options.set)
    game = make_game(config.game.name)
    config = settle_arithmetic(config, game)
    plan = PlayPlan(weights_of(make_net(config.net, game)), (config,), Identities())
    with connected("local") as cluster, local_pool(config, print) as here, cluster.pool(config, print) as there:
        for pool in (here, there):  # both start their workers, and compile
            games_per_s(pool, plan, config, -1, options.games)
        ratios = []
        for turn in range(options.turns):
            order = (here, there) if turn % 2 else (there, here)
            speeds = {pool: games_per_s(pool, plan, config, turn, options.games) for pool in order}
            ratios.append(speeds[there] / speeds[here])
            print(f"turn {turn}: local {speeds[here]:.1f}, cluster {speeds[there]:.1f} games/s, ratio {ratios[-1]:.3f}")
    print(f"median ratio {statistics.median(ratios):.3f} of {len(ratios)} turns")


if __name__ == "__main__":
    main()
