"""A soak: two hours of training with a GTP engine as the opponent, beside one long search.

It records memory, open files, threads and processes of all processes together, and draws the curve. Linux only.

    python tests/torture/soak.py --minutes 120 --out runs/soak
"""

import argparse
import csv
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from azero.plots import Line, Panel, draw

COLUMNS = ("minutes", "memory_mib", "files", "threads", "processes", "search_mib", "iterations")

ENGINE = """
import random, sys
from azero.games import make_game
game, moves = make_game("connect_four"), []
for line in sys.stdin:
    words, answer = line.split(), ""
    if words[0] == "clear_board":
        moves = []
    if words[0] == "play":
        moves.append(words[2])
    if words[0] == "genmove":
        state = game.state_from_moves(" ".join(moves))
        answer = game.action_to_text(state, random.choice(state.legal_actions()))
        moves.append(answer)
    print(f"= {answer}\\n", flush=True)
"""

SEARCH = """
import sys, time
import azero
agent, end = azero.make_agent("othello_6x6(solve_nodes=0)", max_nodes=1 << 20), time.monotonic() + float(sys.argv[1])
while (left := end - time.monotonic()) > 1:
    print(agent.suggest(agent.game.new_initial_state(), seconds=left).simulations, "simulations", flush=True)
"""

SETTINGS = {
    "selfplay.games_per_iteration": 200,
    "selfplay.games_per_shard": 100,
    "replay.window": 20_000,
    "training.iterations": 1_000_000,
    "training.samples_per_position": 2.0,
    "gate.games": 20,
    "gate.final_games": 0,
    "evaluation.every": 3,
    "evaluation.games": 6,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--every", type=float, default=20, help="seconds between two samples")
    parser.add_argument("--out", type=Path, default=Path("runs/soak"))
    arguments = parser.parse_args()
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    (out / "engine.py").write_text(ENGINE)
    rows = list(soak(out, arguments.minutes * 60, arguments.every))
    with open(out / "soak.csv", "w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    draw_curve(rows, out / "soak.png")


def soak(out: Path, seconds: float, every: float) -> Iterator[tuple[float, ...]]:
    """Runs training and search for `seconds`; yields a row of COLUMNS every `every` seconds, and prints it."""
    train = [sys.executable, "-m", "azero.cli", "train", "connect_four_quick", "--run", str(out / "run")]
    train += [f"--set={name}={value}" for name, value in SETTINGS.items()]
    train.append(f"--set=evaluation.opponent=gtp:{sys.executable} {out / 'engine.py'}")
    with open(out / "train.log", "w") as log, open(out / "search.log", "w") as search_log:
        training = subprocess.Popen(train, stdout=log, stderr=log)
        search = subprocess.Popen([sys.executable, "-c", SEARCH, str(seconds)], stdout=search_log, stderr=search_log)
    begin = time.monotonic()
    try:
        while (elapsed := time.monotonic() - begin) < seconds:
            time.sleep(every)
            if training.poll() is not None:
                raise SystemExit(f"training ended with {training.returncode}; see {out / 'train.log'}")
            figures = total_of(tree_of(training.pid))
            metrics = out / "run" / "metrics.jsonl"
            iterations = len(metrics.read_bytes().splitlines()) if metrics.exists() else 0
            searching = total_of([search.pid])[0] if search.poll() is None else 0.0
            row = (round(elapsed / 60, 2), *figures, searching, iterations)
            print(*row, flush=True)
            yield row
    finally:
        training.send_signal(signal.SIGINT)
        training.wait(60)
        search.wait(60)


def tree_of(pid: int) -> list[int]:
    """Returns a process and all its descendants."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def total_of(pids: list[int]) -> tuple[float, int, int, int]:
    """Returns memory in MiB, open files, threads and the number of processes. Shared pages count once."""
    kib = files = threads = count = 0
    for pid in pids:
        folder = Path("/proc") / str(pid)
        try:
            rollup = (folder / "smaps_rollup").read_text()
            kib += int(rollup.partition("\nPss:")[2].split()[0])
            files += len(os.listdir(folder / "fd"))
            threads += len(os.listdir(folder / "task"))
            count += 1
        except (OSError, IndexError, ValueError):  # it has ended
            continue
    return round(kib / 1024, 1), files, threads, count


def draw_curve(rows: list[tuple[float, ...]], path: Path) -> None:
    """Draws memory on the left, and the numbers of files, threads and processes on the right."""
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    minutes = columns["minutes"]
    memory = [Line("training, all processes", minutes, columns["memory_mib"])]
    memory.append(Line("the long search", minutes, columns["search_mib"]))
    counts = [Line(name, minutes, columns[name]) for name in ("files", "threads", "processes")]
    draw(
        [
            Panel("Memory", "minutes", "MiB", memory, is_x_log=False, is_y_log=False),
            Panel("Handles", "minutes", "number", counts, is_x_log=False, is_y_log=False),
        ],
        path,
    )


if __name__ == "__main__":
    main()
