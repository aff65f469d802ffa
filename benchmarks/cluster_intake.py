"""How many positions a second the driver takes in: shards made beforehand, by a local Ray cluster, onto the disk.

python benchmarks/cluster_intake.py [--seconds S]
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

from azero.cluster.connection import connected
from azero.config.reading import find_config, load_config
from azero.games.make import make_game
from azero.nets.checkpoint import weights_of
from azero.nets.make import make_net
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.shard_files import save_shard
from azero.selfplay.tasks import Identities, PlayPlan, SizedSeeds, play_task

_GAMES = 512  # of a shard


def give(shard, task, report):
    """A task's work: returns the shard that all tasks have in common."""
    return shard


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    seconds = parser.parse_args().seconds
    settings = ["selfplay.num_simulations=8", "device.runtime=torch", "device.precision=fp32"]
    config = load_config(find_config("connect_four_quick"), settings)
    game = make_game(config.game.name)
    plan = PlayPlan(weights_of(make_net(config.net, game)), (config,), Identities())
    shard = play_task(plan, SizedSeeds(0, tuple(range(_GAMES))), lambda num: None)
    replay = Replay([game], Window(20 * shard.num_learnt))
    with connected("local") as cluster, cluster.pool(config, print) as pool, tempfile.TemporaryDirectory() as folder:
        for _ in pool.run(give, range(8), shared=shard):  # the workers start
            pass
        num_shards, memory, begin = 0, [], time.perf_counter()
        while (spent := time.perf_counter() - begin) < seconds:
            for place, each in pool.run(give, range(32), shared=shard):
                save_shard(Path(folder) / f"{place:05d}.safetensors", each, game)
                replay.add(f"{num_shards:09d}", each)
                num_shards += 1
            memory.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        figures = pool.figures()
    positions = num_shards * shard.num_learnt
    megabytes = figures["cluster/received_bytes"] / (num_shards + 8) / 1e6
    print(f"{num_shards} shards of {shard.num_learnt:,} positions and {megabytes:.2f} MB")
    print(f"{positions / spent:,.0f} positions/s, {num_shards / spent:.1f} shards/s")
    print(f"most memory after the first round {memory[0]:.0f} MiB, after the last {memory[-1]:.0f} MiB")


if __name__ == "__main__":
    from cluster_intake import main as named  # by the module's name, so that workers find `give` in it

    named()
