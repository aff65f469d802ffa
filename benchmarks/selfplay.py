"""Profiles self-play: time of the net, the trees and the rest, cache hits, and rows per pass of the net.

It also prints evaluations per second, in all and as a share of the bare net's.

    python benchmarks/selfplay.py --config connect_four --checkpoint connect_four --games 256
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from azero.arena.agents.checkpoints import find_checkpoint
from azero.bench.selfplay import measure_selfplay
from azero.config.reading import find_config, load_config
from azero.games import make_game
from azero.mcts.search import lockstep
from azero.nets.architectures.tower.net import ResidualTower
from azero.nets.checkpoint import load_checkpoint
from azero.nets.evaluator import NetEvaluator
from azero.selfplay.play import SelfPlay, play_games

SECONDS: Counter[str] = Counter()
PASSES: Counter[str] = Counter()


def clocked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function with a clock that adds its time to SECONDS[name]."""

    def run(*arguments: Any) -> Any:
        begin = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            SECONDS[name] += time.perf_counter() - begin

    return run


def counted(evaluator: NetEvaluator) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Returns the evaluator's `evaluate` with counters of its rows and its passes' rows in PASSES."""
    evaluate = evaluator.evaluate

    def run(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        PASSES["asked"] += len(planes)
        PASSES["passed"] += -(-len(planes) // evaluator.rows) * evaluator.rows
        return evaluate(planes)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="connect_four")
    parser.add_argument("--checkpoint", help="the net that plays; a new one unless given")
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--slots", type=int, help="games in lockstep; those of the config unless given")
    arguments = parser.parse_args()

    config = load_config(find_config(arguments.config))
    game, size = make_game(config.game.name), arguments.slots or config.selfplay.parallel_games
    net = ResidualTower(config.net, game)
    if arguments.checkpoint:
        net = load_checkpoint(find_checkpoint(arguments.checkpoint), game).net
    evaluator = NetEvaluator(net, config.device)
    lockstep.take_turn = clocked("the trees", lockstep.take_turn)
    evaluator.evaluate = clocked("the net", counted(evaluator))  # type: ignore[method-assign]

    for mib in (0, config.search.cache_mib or 64):
        plain = SelfPlay.from_config(config, game, evaluator)
        selfplay = replace(plain, settings=plain.settings._replace(cache_mib=mib), num_slots=size, num_lanes=1)
        play_games(selfplay, range(8))  # compiles
        SECONDS.clear()
        PASSES.clear()
        begin = time.perf_counter()
        shard = play_games(selfplay, range(arguments.games))
        elapsed = time.perf_counter() - begin
        SECONDS["the rest, in Python"] = elapsed - sum(SECONDS.values())
        num, hits, simulations = (int(each.sum()) for each in (shard.evaluations, shard.cache_hits, shard.simulations))
        print(f"{arguments.games} games, {size} in lockstep, a cache of {mib} MiB, {elapsed:.1f} s, one thread")
        print(f"  {simulations:,} simulations, {simulations / elapsed:,.0f} a second; {num:,} evaluations", end="")
        print(f", {num / elapsed:,.0f} a second; {hits / (hits + num):.1%} in the cache", end="")
        print(f"; passes {PASSES['asked'] / PASSES['passed']:.0%} full")
        for name, seconds in SECONDS.most_common():
            print(f"  {name:<30}{seconds / elapsed:>7.1%}  {1e6 * seconds / num:>7.2f} us an evaluation")

    print("in full swing, as `azero bench --only selfplay` measures it:")
    for row in measure_selfplay(config, 15.0):
        print(f"  a cache of {row.cache_mib} MiB, {row.workers} at work: ", end="")
        print(f"{row.evaluations_per_s:,.0f} evaluations a second, {row.share_of_net:.1%} of the bare net's")


if __name__ == "__main__":
    main()
