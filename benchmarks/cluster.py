"""Measures work on a Ray cluster on this machine: self-play against the local pool, and the driver's service times.

    python benchmarks/cluster.py throughput [--turns N] [--games N] [--set SECTION.KEY=VALUE]
    python benchmarks/cluster.py intake [--pool cluster|local|bytes] [--shards N] [--games N] [--window N]
    python benchmarks/cluster.py measure RUN

`throughput`: games per second of self-play on both, in turns of one run, and their ratio.

`intake`: shards that were made beforehand arrive from a pool's workers. The whole way of a shard is measured: its bytes
arrive, are compared with their digest and unpacked; the shard is written to disk and enters the replay window.
`--pool bytes` leaves the cluster out: the answers are in memory.

`measure`: playing times of shards, and the driver's service times, for docs/scale.json. `scale.py` makes tables of
them. RUN is a run of connect_four_quick, which gives the times of training and gates.
"""

import argparse
import cProfile
import json
import os
import platform
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from azero.cluster.connection import connected
from azero.cluster.ray_backend import RayBackend
from azero.compiler.rng import derive_seed
from azero.config.reading import find_config, load_config
from azero.config.schema import Config
from azero.games import Game, make_game
from azero.mcts import UniformEvaluator
from azero.nets.checkpoint import weights_of
from azero.nets.make import make_net
from azero.runs.metrics import read_metrics
from azero.runs.shards import save_shard
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.shard import Shard
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.tasks import Identities, PlayPlan, play_task, split_seeds
from azero.selfplay.workers import local_pool
from azero.system.worker_pool import Pool
from azero.system.worker_side import check, seal
from azero.training.learning.precision import settle_arithmetic


def games_per_s(pool: Pool, plan: PlayPlan, config: Config, turn: int, num_games: int) -> float:
    """Returns the speed of a turn. Turns of the same number play the same games."""
    seeds = [derive_seed(0, "throughput", turn, k) for k in range(num_games)]
    tasks = split_seeds(seeds, 1, config.selfplay.games_per_shard)
    begin = time.perf_counter()
    for _ in pool.run(play_task, tasks, lambda num: None, plan, "self-play"):
        pass
    return num_games / (time.perf_counter() - begin)


def add_throughput(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--games", type=int, default=256, help="games of a turn")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="a setting of azero")


def measure_throughput(options: argparse.Namespace) -> None:
    """Self-play on a local cluster, as a ratio to the local pool."""
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


def add_intake(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", default="connect_four_quick")
    parser.add_argument("--pool", choices=("cluster", "local", "bytes"), default="cluster")
    parser.add_argument("--shards", type=int, default=400)
    parser.add_argument("--games", type=int, default=250, help="of a shard")
    parser.add_argument("--window", type=int, default=500_000, help="positions")
    parser.add_argument("--workers", type=int, default=0, help="0: one per core")
    parser.add_argument("--profile", action="store_true", help="show where the driver's time goes")


def measure_intake(options: argparse.Namespace) -> None:
    """How many positions a second the driver takes in."""
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


GAMES, SHARD_GAMES, TURNS = 32, 4, 4
FIGURES = Path(__file__).resolve().parent.parent / "docs" / "scale.json"
THIS = sys.modules[__name__]


def timed(plan: PlayPlan, task: Any, on_games: Callable[[int], None]) -> tuple[Shard, float]:
    """A worker's work: plays a task's games; returns the shard and the seconds."""
    begin = time.perf_counter()
    shard = play_task(plan, task, on_games)
    return shard, time.perf_counter() - begin


def service_times(run: Path) -> dict:
    """Returns all figures; RUN is a run of connect_four_quick on this machine."""
    rows = read_metrics(run / "metrics.jsonl")
    if not rows:
        raise SystemExit(f"{run} is not a run that has trained")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    config = load_config(find_config("connect_four_quick"), [f"selfplay.games_per_shard={SHARD_GAMES}"])
    game = make_game(config.game.name)
    config = settle_arithmetic(config, game)
    plan = PlayPlan(weights_of(make_net(config.net, game)), (config,), Identities())
    turns: dict[str, list[dict]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=".")))
        cluster = stack.enter_context(connected("local"))
        pools: dict[str, Pool] = {
            "here 1": stack.enter_context(local_pool(_with_workers(config, 1), print)),
            "local 2": stack.enter_context(local_pool(_with_workers(config, 2), print)),
            "ray 1": stack.enter_context(cluster.pool(_with_workers(config, 1), print)),
            "ray 2": stack.enter_context(cluster.pool(_with_workers(config, 2), print)),
        }
        for name, pool in pools.items():  # workers start, and compile
            one_turn(pool, plan, game, folder, -1)
            print(name, "is ready", flush=True)
        for turn in range(TURNS):
            for name, pool in pools.items():
                turns.setdefault(name, []).append(one_turn(pool, plan, game, folder, turn))
                print(name, turn, f"{turns[name][-1]['elapsed_s']:.2f} s", flush=True)
        driver = measure_driver(pools["ray 2"], config, game, folder)
        local_s = _intake(pools["local 2"], make_shards(game, config, 25), game, folder)
    alone = [each for turn in turns["here 1"] for each in turn["times_s"]]
    made = turns["ray 2"][0]
    gaps = [(each["elapsed_s"] - sum(each["times_s"])) / len(each["times_s"]) for each in turns["ray 1"]]
    return {
        "machine": f"{os.cpu_count()} cores, {platform.machine()}, {time.strftime('%d %B %Y')}",
        "turns": turns,
        "driver": driver | {"local_s": local_s},
        "gap_s": max(0.0, statistics.median(gaps)),
        "game_s": statistics.median(alone) / SHARD_GAMES,
        "variation": statistics.stdev(alone) / statistics.mean(alone),
        "shard_games": SHARD_GAMES,
        "shard_bytes": made["bytes"],
        "game_positions": made["positions"] / GAMES,
        "net_bytes": sum(each.nbytes for each in plan.weights.values()),
        "step_s": 1 / statistics.median(row["train/steps_per_s"] for row in rows),
        "gate_s": statistics.median(row["time/gate_s"] for row in rows),
    }


def one_turn(pool: Pool, plan: PlayPlan, game: Game, folder: Path, turn: int) -> dict:
    """Plays the games of an iteration, and takes them in. Turns of the same number play the same games."""
    seeds = [derive_seed(0, "scale", turn, k) for k in range(GAMES)]
    times: dict[int, float] = {}
    sizes: list[int] = []

    def shards() -> Iterator[Shard]:
        for place, (shard, seconds) in pool.run(timed, split_seeds(seeds, 1, SHARD_GAMES), lambda num: None, plan):
            times[place] = seconds
            sizes.append(len(seal("", 0, "", "result", shard, 0).data))
            yield shard

    begin = time.perf_counter()
    rows = take_in(shards(), game, folder, 100_000)
    elapsed_s = time.perf_counter() - begin
    in_order = [times[place] for place in sorted(times)]
    return {"elapsed_s": elapsed_s, "times_s": in_order, "positions": rows[-1][2], "bytes": statistics.mean(sizes)}


def measure_driver(pool: Pool, config: Config, game: Game, folder: Path) -> dict:
    """Returns the driver's service times on Ray: processor seconds, and those of the disk, from shards of two sizes."""
    submits: list[float] = []
    disk: list[float] = []
    submit, save = RayBackend.submit, THIS.save_shard

    def submit_clocked(*arguments: Any) -> Any:
        begin = time.process_time()
        try:
            return submit(*arguments)
        finally:
            submits.append(time.process_time() - begin)

    def save_clocked(*arguments: Any) -> None:
        begin = time.perf_counter() - time.thread_time()
        save(*arguments)
        disk.append(time.perf_counter() - time.thread_time() - begin)

    RayBackend.submit, THIS.save_shard = submit_clocked, save_clocked  # type: ignore[method-assign]
    small, large = (make_shards(game, config, num) for num in (10, 250))
    costs = [_intake(pool, made, game, folder) for made in (small, large)]
    sizes = [statistics.mean(len(seal("", 0, "", "result", each, 0).data) for each in made) for made in (small, large)]
    RayBackend.submit, THIS.save_shard = submit, save  # type: ignore[method-assign]
    submit_s, byte_s = statistics.mean(submits), (costs[1] - costs[0]) / (sizes[1] - sizes[0])
    answer_s = costs[0] - byte_s * sizes[0] - submit_s
    return {"submit_s": submit_s, "answer_s": answer_s, "byte_s": byte_s, "disk_s": statistics.mean(disk)}


def _intake(pool: Pool, made: list[Shard], game: Game, folder: Path, num: int = 100) -> float:
    """Returns the processor seconds with which this process gives out a task and takes in its shard."""

    def taken(numbers: Iterable[int]) -> float:
        begin = time.process_time()
        take_in((shard for _, shard in pool.run(give, list(numbers), lambda num: None, made)), game, folder, 100_000)
        return time.process_time() - begin

    taken(range(4))
    return taken(range(num)) / num


def _with_workers(config: Config, num: int) -> Config:
    return config.model_copy(update={"selfplay": config.selfplay.model_copy(update={"num_workers": num})})


def add_measure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, help="a run of connect_four_quick")


def write_figures(options: argparse.Namespace) -> None:
    """What docs/scale.md is made of."""
    FIGURES.write_text(json.dumps(service_times(options.run), indent=1) + "\n")


COMMANDS = {
    "throughput": (add_throughput, measure_throughput, "self-play on a local cluster, as a ratio to the local pool"),
    "intake": (add_intake, measure_intake, "how many positions a second the driver takes in"),
    "measure": (add_measure, write_figures, "what docs/scale.md is made of"),
}
"""See `subcommands.py`."""


if __name__ == "__main__":
    import cluster  # under the name by which workers import it, too
    from subcommands import run_command

    run_command(cluster.COMMANDS, __doc__)
