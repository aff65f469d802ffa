"""Measures the evaluations a second of `net.name = any_size`, as a ratio to those of `tower`, in each runtime.

python benchmarks/any_size_cost.py --games connect_four othello "go(size=9)"
"""

import argparse
import time

import numpy as np
import torch

from azero.config.schema import NetConfig
from azero.games import Game, make_game
from azero.nets.architectures.contract import with_noise
from azero.nets.make import make_net
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.runtimes.choice import Runtime, available_runtimes, open_runtime

CPU = torch.device("cpu")
ROWS = 64


def seconds_of(configs: list[NetConfig], game: Game, runtime: Runtime, repeats: int) -> list[float]:
    """Returns the least seconds of a pass of each net on one thread. Passes of the nets take turns."""
    nets = (with_noise(make_net(config, game)) for config in configs)
    sessions = [open_runtime(runtime, net, CPU, ROWS, 1) for net in nets]
    planes = np.resize(sample_positions(game), (ROWS, *game.planes_shape))
    best = [np.inf] * len(configs)
    for _ in range(repeats + 1):  # the first pass is slower
        for number, session in enumerate(sessions):
            begin = time.perf_counter()
            session.run(planes)
            best[number] = min(best[number], time.perf_counter() - begin)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", nargs="+", default=["connect_four", "othello", "go(size=9)"])
    parser.add_argument("--repeats", type=int, default=50)
    options = parser.parse_args()
    print(f"{'game':20}{'runtime':16}{'tower/s':>10}{'any_size/s':>12}{'ratio':>8}")
    for game in map(make_game, options.games):
        for runtime in available_runtimes(CPU):
            configs = [NetConfig(name=name) for name in ("tower", "any_size")]
            tower, any_size = seconds_of(configs, game, runtime, options.repeats)
            print(
                f"{game!s:20}{runtime.name:16}{ROWS / tower:10,.0f}{ROWS / any_size:12,.0f}{tower / any_size:8.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
