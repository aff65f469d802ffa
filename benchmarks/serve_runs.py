"""What a page that watches a run costs the run: the ratio of its speeds with and without a page, in one run.

    python benchmarks/serve_runs.py --iterations 12

Trains on Connect Four, with a server beside it. In every second iteration a client asks what the page asks: metrics
and games every 5 s, and every 2 s a move further in a game, with the opinions of all nets. Prints the mean simulations
and training steps per second of both kinds of iterations, and their ratios. Each pair of iterations is neighbours, so
that slow changes of the machine's load do not matter.
"""

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from statistics import fmean

AZERO = [sys.executable, "-m", "azero.cli"]
SETTINGS = {"selfplay.games_per_iteration": 120, "selfplay.games_per_shard": 60, "evaluation.every": 0}
SPEEDS = "selfplay/simulations_per_s", "train/steps_per_s"


class Page:
    """Asks the server what the page asks while a user looks at a run."""

    def __init__(self, address: str):
        self._runs = f"{address}api/v1/runs"
        self._polled_s = 0.0
        self._moves: list[str] = []
        self.latencies: list[float] = []

    def last_iteration(self) -> int:
        """Returns the last iteration that is over."""
        return self._ask("run/metrics?after=1000000")["last"]

    def look(self) -> None:
        """Asks once."""
        if time.monotonic() - self._polled_s > 5:
            self._polled_s = time.monotonic()
            self._ask("run/metrics?after=0")
            games = self._ask("run/games?limit=30")["games"]
            if games and not self._moves:
                self._moves = self._ask(f"run/games/{games[0]['id']}")["moves"][:-1]
        if self._moves:
            self._moves.pop()
            while not self._ask("run/opinions", {"moves": " ".join(self._moves)})["is_whole"]:
                pass

    def _ask(self, route: str, fields: dict | None = None) -> dict:
        begin = time.perf_counter()
        data = None if fields is None else json.dumps(fields).encode()
        request = urllib.request.Request(f"{self._runs}/{route}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            found = json.load(answer)
        self.latencies.append(time.perf_counter() - begin)
        return found


def watch(folder: Path, iterations: int) -> Page:
    """Trains, and looks at the run in every second iteration; returns the page."""
    settings = SETTINGS | {"training.iterations": iterations}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    train = [*AZERO, "train", "connect_four_quick", "--run", str(folder), *words]
    with subprocess.Popen(train, stdout=subprocess.DEVNULL) as training:
        while not (folder / "config.toml").exists() and training.poll() is None:
            time.sleep(0.1)
        serve = [*AZERO, "serve", "--runs", str(folder), "--port", "0", "--threads", "1"]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout, "it is a pipe"
            page = Page(server.stdout.readline().split()[-1])
            while training.poll() is None:
                with contextlib.suppress(urllib.error.HTTPError):  # a run that is just beginning
                    if page.last_iteration() % 2:
                        page.look()
                time.sleep(2)
            server.terminate()
    return page


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=12, help="of the run; an even number")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        page = watch(folder, arguments.iterations)
        rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    counted = rows[2:]  # the first two compile and open everything
    for speed in SPEEDS:
        alone, watched = (fmean(row[speed] for row in counted if row["iteration"] % 2 == k) for k in (1, 0))
        print(f"{speed}: {alone:,.0f} alone, {watched:,.0f} watched, ratio {watched / alone:.2f}")
    slowest = max(page.latencies)
    print(f"{len(page.latencies)} answers, {fmean(page.latencies):.3f} s in the mean, the slowest {slowest:.2f} s")


if __name__ == "__main__":
    main()
