"""Where self-play's time goes: the net, the tree, the moves, the rest; and evaluations a second beside the bare net's.

python benchmarks/selfplay_profile.py --config connect_four --games 256
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from azero.bench import net_evaluations, selfplay_evaluations
from azero.config import find_config, load_config
from azero.games import make_game
from azero.mcts import rule_from_config
from azero.nets.evaluator import NetEvaluator
from azero.nets.tower import ResidualTower
from azero.selfplay import play
from azero.selfplay.pool import manner_of, settings_of

SECONDS: Counter[str] = Counter()


def clocked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function, its time added up under `name`."""

    def run(*arguments: Any) -> Any:
        begin = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            SECONDS[name] += time.perf_counter() - begin

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="connect_four")
    parser.add_argument("--games", type=int, default=256)
    arguments = parser.parse_args()

    config = load_config(find_config(arguments.config))
    game, size = make_game(config.game.name), config.selfplay.parallel_games
    evaluator = NetEvaluator(ResidualTower(config.net, game), config.device)
    settings = game, rule_from_config(config.search), settings_of(config), manner_of(config)
    play.play_games(*settings, evaluator, range(8), 8)  # compiles
    for name, kernel in (
        ("descents", "select_leaves"),
        ("growth and backup", "expand_and_backup"),
        ("moves", "_play_moves"),
    ):
        setattr(play, kernel, clocked(name, getattr(play, kernel)))
    evaluator.evaluate = clocked("net", evaluator.evaluate)  # type: ignore[method-assign]

    begin = time.perf_counter()
    shard = play.play_games(*settings, evaluator, range(arguments.games), size)
    elapsed = time.perf_counter() - begin
    SECONDS["the rest, in Python"] = elapsed - sum(SECONDS.values())
    num = int(shard.evaluations[0])
    print(f"{arguments.games} games, {num:,} evaluations, {elapsed:.1f} s, one thread, {config.net}")
    for name, seconds in SECONDS.most_common():
        print(f"  {name:<22}{seconds / elapsed:>7.1%}  {1e6 * seconds / num:>7.2f} us an evaluation")

    ratios = []
    for _ in range(5):
        bare = net_evaluations(config, game, 2.0, size)
        ratios.append(selfplay_evaluations(config, game, 4.0, size) / bare)
    print(f"evaluations a second in full swing, of the bare net's at batch {size}: {np.median(ratios):.1%}", end="")
    print(f" (median of 5, {min(ratios):.1%} to {max(ratios):.1%}; bare {bare:,.0f})")


if __name__ == "__main__":
    main()
