"""Measures what docs/scale.md is made of, on this machine: playing times of shards, and the driver's service times."""

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import cluster_intake
from cluster_intake import give, make_shards, take_in

from azero.cluster.connection import connected
from azero.cluster.messages import seal
from azero.cluster.ray_backend import RayBackend
from azero.compiler.rng import derive_seed
from azero.config.reading import find_config, load_config
from azero.config.schema import Config
from azero.games import Game, make_game
from azero.nets.checkpoint import weights_of
from azero.nets.make import make_net
from azero.runs.metrics import read_metrics
from azero.selfplay.data.records import Shard
from azero.selfplay.pool import AnyPool, local_pool
from azero.selfplay.tasks import Identities, PlayPlan, play_task, split_seeds
from azero.training.learning.precision import settle_arithmetic

GAMES, SHARD_GAMES, TURNS = 32, 4, 4


def timed(plan: PlayPlan, task: Any, on_games: Callable[[int], None]) -> tuple[Shard, float]:
    """A worker's work: plays a task's games; returns the shard and the seconds."""
    begin = time.perf_counter()
    shard = play_task(plan, task, on_games)
    return shard, time.perf_counter() - begin


def measure(run: Path) -> dict:
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
        pools: dict[str, AnyPool] = {
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


def one_turn(pool: AnyPool, plan: PlayPlan, game: Game, folder: Path, turn: int) -> dict:
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


def measure_driver(pool: AnyPool, config: Config, game: Game, folder: Path) -> dict:
    """Returns the driver's service times on Ray: processor seconds, and those of the disk, from shards of two sizes."""
    submits: list[float] = []
    disk: list[float] = []
    submit, save = RayBackend.submit, cluster_intake.save_shard

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

    RayBackend.submit, cluster_intake.save_shard = submit_clocked, save_clocked  # type: ignore[method-assign]
    small, large = (make_shards(game, config, num) for num in (10, 250))
    costs = [_intake(pool, made, game, folder) for made in (small, large)]
    sizes = [statistics.mean(len(seal("", 0, "", "result", each, 0).data) for each in made) for made in (small, large)]
    RayBackend.submit, cluster_intake.save_shard = submit, save  # type: ignore[method-assign]
    submit_s, byte_s = statistics.mean(submits), (costs[1] - costs[0]) / (sizes[1] - sizes[0])
    answer_s = costs[0] - byte_s * sizes[0] - submit_s
    return {"submit_s": submit_s, "answer_s": answer_s, "byte_s": byte_s, "disk_s": statistics.mean(disk)}


def _intake(pool: AnyPool, made: list[Shard], game: Game, folder: Path, num: int = 100) -> float:
    """Returns the processor seconds with which this process gives out a task and takes in its shard."""

    def taken(numbers: Iterable[int]) -> float:
        begin = time.process_time()
        take_in((shard for _, shard in pool.run(give, list(numbers), lambda num: None, made)), game, folder, 100_000)
        return time.process_time() - begin

    taken(range(4))
    return taken(range(num)) / num


def _with_workers(config: Config, num: int) -> Config:
    return config.model_copy(update={"selfplay": config.selfplay.model_copy(update={"num_workers": num})})
