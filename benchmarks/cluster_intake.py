"""How many positions a second the driver takes in: shards that were made beforehand arrive from a pool's workers.

The whole way of a shard is measured: its bytes arrive, are compared with their digest and unpacked; the shard is
written to disk and enters the replay window. `--pool bytes` leaves the cluster out: the answers are in memory.

python benchmarks/cluster_intake.py [--pool cluster|local|bytes] [--shards N] [--games N] [--window N]
"""

import argparse
import cProfile
import os
import pstats
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path

import numpy as np
import psutil

from azero.cluster.connection import connected
from azero.cluster.messages import check, seal
from azero.config.reading import find_config, load_config
from azero.config.schema import Config
from azero.games import Game, make_game
from azero.mcts import UniformEvaluator
from azero.runs.shards import save_shard
from azero.selfplay.data.records import Shard
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.pool import local_pool

MADE = 4
"""Different shards. A worker answers one of them after another."""


def make_shards(game: Game, config: Config, num_games: int) -> list[Shard]:
    """Returns shards of games without a net, with as many visits at each position as the settings ask for."""
    selfplay = SelfPlay.from_config(config, game, UniformEvaluator(game.num_actions))
    return [play_games(selfplay, range(k * num_games, (k + 1) * num_games)) for k in range(MADE)]


def give(shards: list[Shard], number: int, on_games: Callable[[int], None]) -> Shard:
    """A worker's work: returns a shard that was made beforehand."""
    return shards[number % len(shards)]


def from_bytes(shards: list[Shard], num_shards: int) -> Iterator[Shard]:
    """Yields shards from answers in memory, as the driver of a cluster takes them."""
    answers = [seal("call", k, "node", "result", shard, 0) for k, shard in enumerate(shards)]
    for number in range(num_shards):
        place = number % len(shards)
        check(answers[place], "call", place)
        yield answers[place].value


def take_in(shards: Iterator[Shard], game: Game, folder: Path, window: int) -> list[tuple[float, float, int, int]]:
    """Takes shards as self-play does; returns seconds, processor seconds, positions and resident bytes after each."""
    replay, own = Replay((game,), Window(window)), psutil.Process()
    rows, positions, begin, processor = [], 0, time.perf_counter(), time.process_time()
    for number, shard in enumerate(shards):
        name = f"00001-{number:04d}"
        save_shard(folder / f"{name}.safetensors", shard, game)
        for leaving in replay.add(name, shard):
            (folder / f"{leaving}.safetensors").unlink()
        positions += shard.num_positions
        spent = time.perf_counter() - begin, time.process_time() - processor
        rows.append((*spent, positions, own.memory_info().rss))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="connect_four_quick")
    parser.add_argument("--pool", choices=("cluster", "local", "bytes"), default="cluster")
    parser.add_argument("--shards", type=int, default=400)
    parser.add_argument("--games", type=int, default=250, help="of a shard")
    parser.add_argument("--window", type=int, default=500_000, help="positions")
    parser.add_argument("--workers", type=int, default=0, help="0: one per core")
    parser.add_argument("--profile", action="store_true", help="show where the driver's time goes")
    options = parser.parse_args()
    config = load_config(find_config(options.config), [f"selfplay.num_workers={options.workers}"])
    game = make_game(config.game.name)
    made = make_shards(game, config, options.games)
    size = len(seal("", 0, "", "result", made[0], 0).data)
    print(f"a shard: {options.games} games, {made[0].num_positions:,} positions, {size:,} bytes", end="")
    print(f", {size / made[0].num_positions:.0f} a position, {size / options.games:,.0f} a game")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=".")))
        if options.pool == "bytes":
            shards = from_bytes(made, options.shards)
        else:
            is_ray = options.pool == "cluster"
            cluster = stack.enter_context(connected("local")) if is_ray else None
            pool = stack.enter_context(cluster.pool(config, print) if cluster else local_pool(config, print))
            for _ in pool.run(give, range(8), lambda num: None, made):  # starts workers
                pass
            shards = (shard for _, shard in pool.run(give, range(options.shards), lambda num: None, made))
        profile = stack.enter_context(cProfile.Profile() if options.profile else nullcontext())
        rows = np.array(take_in(shards, game, folder, options.window))
    seconds, processor, positions, memory = rows[-1]
    half = len(rows) // 2
    print(f"{options.pool}: {len(rows)} shards, {positions:,.0f} positions in {seconds:.1f} s", end="")
    print(f": {positions / seconds:,.0f} a second, {len(rows) / seconds:.1f} shards a second")
    print(f"  the driver's core: {1e3 * processor / len(rows):.2f} ms a shard, {processor / seconds:.0%}")
    print(f"  resident memory in the middle {rows[half, 3] / 2**20:,.0f} MiB, at the end {memory / 2**20:,.0f} MiB")
    if options.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(15)


if __name__ == "__main__":
    import cluster_intake  # under the name by which workers import it, too

    cluster_intake.main()
