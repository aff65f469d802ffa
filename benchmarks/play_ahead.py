"""Measures how long an iteration takes when self-play takes turns with training and gate, and when it plays ahead.

python benchmarks/play_ahead.py --config connect_four_quick --set selfplay.num_workers=2

The best that playing ahead can do is the longer of self-play and the rest. Trainer and workers need cores of their own.
"""

import argparse
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from azero.commands.options import pools
from azero.config.reading import find_config, load_config
from azero.runs.metrics import read_metrics
from azero.training.callbacks import Callback, RunView
from azero.training.train import train


class Clock(Callback):
    """Notes when each iteration ends, in seconds."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def after_iteration(self, run: RunView) -> None:
        self.ends.append(time.perf_counter())


def describe(name: str, lines: list[dict], ends: list[float]) -> str:
    """Returns the medians of a run's iterations, without the first, which has nothing to overlap with, and the last."""
    took = [end - begin for begin, end in pairwise(ends)][:-1]
    inner = lines[1:-1]
    selfplay = [line["time/play_s"] for line in inner]
    if "time/overlap" in inner[0]:
        selfplay = [line["time/ahead_s"] / line["time/overlap"] for line in inner]
    rest = [line["time/iteration_s"] - line["time/play_s"] for line in inner]
    ratio = statistics.median(all_s / max(pair) for all_s, *pair in zip(took, selfplay, rest, strict=True))
    figures = (statistics.median(each) for each in (took, selfplay, rest))
    return f"{name:10}{''.join(f'{each:12.2f}' for each in figures)}{ratio:12.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="connect_four_quick")
    parser.add_argument("--iterations", type=int, default=6, help="4 or more")
    parser.add_argument("--cluster", default=None)
    parser.add_argument("--set", dest="settings", action="append", default=[])
    arguments = parser.parse_args()
    common = [f"training.iterations={arguments.iterations}", "gate.final_games=0", "evaluation.every=0"]
    rows = []
    with tempfile.TemporaryDirectory() as folder, pools(arguments.cluster) as make_pool:
        for name, value in (("in turns", 0), ("ahead", 1)):
            settings = [*common, *arguments.settings, f"training.play_ahead={value}"]
            config = load_config(find_config(arguments.config), settings)
            clock, run = Clock(), Path(folder) / str(value)
            train(config, run, callbacks=[clock], make_pool=make_pool)
            rows.append(describe(name, read_metrics(run / "metrics.jsonl"), clock.ends))
    print(f"\n{'seconds':10}{'iteration':>12}{'self-play':>12}{'the rest':>12}{'of longer':>12}")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
