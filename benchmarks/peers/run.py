"""Compares self-play of azero with that of other AlphaZeros: simulations and evaluations per second.

All play Connect Four on a 6x7 board, 64 simulations per move, with a new net of 5 residual blocks of 64 channels. Each
peer has its own environment `.venv-peers/NAME`, made from `requirements-NAME.txt`. azero uses the environment of this
script. All are started and warmed up. Then they play in turns, so that noise of the machine affects all.

    python benchmarks/peers/run.py --rounds 3 --seconds 8
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
VENVS = HERE.parent.parent / ".venv-peers"
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


class Contestant(NamedTuple):
    """A row of the table, and how to run it."""

    name: str
    how: str
    venv: str  # the NAME of its requirements; "" for the environment of this process
    command: tuple[str, ...]  # script and arguments
    is_on_every_core: bool  # one process pinned to each core, or one process with all cores


CONTESTANTS = [
    Contestant("azero", "a worker a core", "", ("azero_selfplay.py",), True),
    Contestant("mctx on pgx", "one process", "mctx", ("mctx_pgx.py",), False),
    Contestant("mctx on pgx", "a process a core", "mctx", ("mctx_pgx.py",), True),
    Contestant("gumbel-mcts", "a process a core", "gumbel-mcts", ("gumbel_mcts_puct.py",), True),
    Contestant("OpenSpiel", "as installed, one process", "openspiel", ("openspiel_alphazero.py",), False),
    Contestant(
        "OpenSpiel",
        "net compiled, no cache, one process",
        "openspiel",
        ("openspiel_alphazero.py", "--compiled", "--cache", "1"),
        False,
    ),
    Contestant("OpenSpiel", "net compiled, one process", "openspiel", ("openspiel_alphazero.py", "--compiled"), False),
    Contestant(
        "OpenSpiel", "net compiled, a process a core", "openspiel", ("openspiel_alphazero.py", "--compiled"), True
    ),
]
"""The first one is ours, with which the others are compared."""


class Row(NamedTuple):
    """A line of the table: medians over the rounds."""

    name: str
    how: str
    simulations_per_s: float
    evaluations_per_s: float
    ratio: float  # ours to theirs, in simulations per second of the same round
    ratio_min: float
    ratio_max: float


def python_of(venv: str) -> str:
    """Returns the interpreter of an environment. Makes the environment if it is missing or has other requirements."""
    if not venv:
        return sys.executable
    folder, requirements = VENVS / venv, HERE / f"requirements-{venv}.txt"
    python, installed = folder / "bin" / "python", folder / "installed.txt"
    if not installed.exists() or installed.read_text() != requirements.read_text():
        print(f"making {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", "-r", str(requirements)], check=True)
        installed.write_text(requirements.read_text())
    return str(python)


class Playing:
    """A contestant's processes, which play on request."""

    def __init__(self, contestant: Contestant):
        """Starts the processes, and waits until they are warm."""
        self._command = [python_of(contestant.venv), str(HERE / contestant.command[0]), *contestant.command[1:]]
        on_core = [lambda core=core: os.sched_setaffinity(0, {core}) for core in CORES]
        self._processes = [
            subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                preexec_fn=on_core[k] if contestant.is_on_every_core and on_core else None,
            )
            for k in range((len(CORES) or os.cpu_count() or 1) if contestant.is_on_every_core else 1)
        ]
        self._hear()

    def measure(self, seconds: float) -> dict[str, float]:
        """Makes all processes play at the same time; returns the sums of their rates per second."""
        for process in self._processes:
            process.stdin.write(f"{seconds}\n")
            process.stdin.flush()
        answers = self._hear()
        return {what: sum(answer[what] for answer in answers) for what in ("simulations", "evaluations")}

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()

    def _hear(self) -> list[dict]:
        lines = [process.stdout.readline() for process in self._processes]
        if not all(lines):
            sys.exit(f"it ended without an answer; what it says: echo 1 | {' '.join(self._command)}")
        return [json.loads(line) for line in lines]


def summarize(contestants: list[Contestant], rounds: list[list[dict[str, float]]]) -> list[Row]:
    """Returns a row for each contestant. `rounds` has each round's rates per second, ours first."""
    rows = []
    for k, contestant in enumerate(contestants):
        simulations = [each[k]["simulations"] for each in rounds]
        evaluations = [each[k]["evaluations"] for each in rounds]
        ratios = [each[0]["simulations"] / each[k]["simulations"] for each in rounds]
        medians = [statistics.median(numbers) for numbers in (simulations, evaluations, ratios)]
        rows.append(Row(contestant.name, contestant.how, *medians, min(ratios), max(ratios)))
    return rows


def show_table(rows: list[Row]) -> str:
    """Returns the rows as a Markdown table."""
    lines = ["| | | simulations/s | evaluations/s | azero is faster by | spread |", "|---|---|---|---|---|---|"]
    for row in rows:
        speeds = f"{row.simulations_per_s:,.0f} | {row.evaluations_per_s:,.0f}"
        spread = f"{row.ratio_min:.2f} to {row.ratio_max:.2f}"
        lines.append(f"| {row.name} | {row.how} | {speeds} | {row.ratio:.2f} | {spread} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--seconds", type=float, default=8.0, help="of each contestant in each round; ours takes longer"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="of the others only these, by requirements-NAME.txt")
    parser.add_argument("--json", action="store_true", help="print one JSON object in place of the table")
    arguments = parser.parse_args()
    if unknown := set(arguments.only or ()) - {each.venv for each in CONTESTANTS}:
        names = sorted({each.venv for each in CONTESTANTS if each.venv})
        parser.error(f"--only {unknown.pop()} is not known; there is: {', '.join(names)}")

    contestants = [each for each in CONTESTANTS if not each.venv or each.venv in (arguments.only or each.venv)]
    playing: list[Playing] = []
    try:
        for contestant in contestants:
            print(f"starting {contestant.name}, {contestant.how}", file=sys.stderr)
            playing.append(Playing(contestant))
        rounds = []
        for number in range(arguments.rounds):
            print(f"round {number + 1} of {arguments.rounds}", file=sys.stderr)
            rounds.append([each.measure(arguments.seconds) for each in playing])
    finally:
        for each in playing:
            each.stop()
    rows = summarize(contestants, rounds)
    if arguments.json:
        result = {"cores": len(CORES) or os.cpu_count(), "rounds": arguments.rounds, "seconds": arguments.seconds}
        print(json.dumps({**result, "rows": [row._asdict() for row in rows]}))
    else:
        print(show_table(rows))


if __name__ == "__main__":
    main()
