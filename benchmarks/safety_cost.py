"""Measures what the safety of files costs a run: the share of its CPU time in digests, replays and second copies.

python benchmarks/safety_cost.py --config connect_four_quick --iterations 3
"""

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from azero.config.reading import find_config, load_config
from azero.games.user import trust
from azero.runs import shards
from azero.system import tensor_files
from azero.training import loop, run, stages

SECONDS: Counter[str] = Counter()
DEPTH = [0]


def clocked(module: Any, name: str) -> None:
    """Replaces a module's function by one whose CPU time is added to SECONDS[name], unless another one runs already."""
    function: Callable[..., Any] = getattr(module, name)

    def clock(*arguments: Any, **options: Any) -> Any:
        DEPTH[0] += 1
        begin = time.thread_time()
        try:
            return function(*arguments, **options)
        finally:
            DEPTH[0] -= 1
            SECONDS[name] += (time.thread_time() - begin) * (DEPTH[0] == 0)

    setattr(module, name, clock)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", default="connect_four_quick")
    parser.add_argument("--iterations", type=int, default=3)
    arguments = parser.parse_args()
    settings = [f"training.iterations={arguments.iterations}", "selfplay.num_workers=1", "gate.final_games=0"]
    config = load_config(find_config(arguments.config), settings)
    with tempfile.TemporaryDirectory() as folder:
        loop.train(Path(folder) / "warm", load_config(find_config("smoke"), ["training.iterations=1"]), False)
        for module, name in (
            (tensor_files, "digest_of"), (shards, "check_games"), (stages, "keep_beginning"),
            (run, "shards_at_beginning"), (trust, "check_trusted"),
        ):  # fmt: skip
            clocked(module, name)
        begin = time.process_time()
        loop.train(Path(folder) / "run", config, False)
        trained = time.process_time() - begin
        cost = dict(SECONDS)
        begin = time.process_time()
        loop.train(Path(folder) / "run", load_config(Path(folder) / "run" / "config.toml"), True)
        resumed = time.process_time() - begin
    print(f"trained: {trained:.1f} s of CPU, of which {sum(cost.values()):.3f} s ({sum(cost.values()) / trained:.3%})")
    for name, seconds in cost.items():
        print(f"  {name:22}{seconds:8.3f} s")
    print(f"resumed: {resumed:.1f} s of CPU, of which {sum(SECONDS.values()) - sum(cost.values()):.3f} s")


if __name__ == "__main__":
    main()
