"""Measures the evaluations a second of a net with `net.heads`, as a ratio to those of a net without, in each runtime.

python benchmarks/kept_heads_cost.py --games othello "go(size=9)"
"""

import argparse

from any_size_cost import CPU, ROWS, seconds_of

from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.runtimes.choice import available_runtimes

CONFIGS = [NetConfig(), NetConfig(heads=("ownership", "score"))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", nargs="+", default=["othello", "go(size=9)"])
    parser.add_argument("--repeats", type=int, default=50)
    options = parser.parse_args()
    print(f"{'game':20}{'runtime':16}{'without/s':>10}{'with/s':>10}{'ratio':>8}")
    for game in map(make_game, options.games):
        for runtime in available_runtimes(CPU):
            plain, keeping = seconds_of(CONFIGS, game, runtime, options.repeats)
            print(
                f"{game!s:20}{runtime.name:16}{ROWS / plain:10,.0f}{ROWS / keeping:10,.0f}{plain / keeping:8.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
