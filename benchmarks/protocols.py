"""Measures azero as the engine of other programs, and lets engines play under a referee of its own.

    python benchmarks/protocols.py latency go_9x9 breakthrough_8x8
    python benchmarks/protocols.py referee breakthrough "azero uci breakthrough_8x8@100" fairy-stockfish --games 20
    python benchmarks/protocols.py referee clobber "azero uci clobber_8x8" fairy-stockfish --clock 5 --busy 2

`latency`: an agent of Go analyses by GTP, one of another game by UCI. The script prints how long after its command the
first line comes, by how much the lines after it miss the interval, and how long after `stop`, or other input, the end
comes: the median and the longest.

`referee`: two engines of UCI play. The rules are those of `pyffish`, which pip installs. It is under the GPL, and no
part of azero uses it. Two moves of each opening are drawn, and both engines play each opening once as the first player.
A move that is not legal, an engine that ends, and a clock that runs out are lost games, and are printed.
"""

import argparse
import contextlib
import os
import queue
import random
import shlex
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

PATIENCE_S = 300.0
"""How long an answer may take; the first one may wait for a compilation."""

REPEATS, INTERVAL_S, LINES = 20, 0.1, 10


class Program:
    """A program that speaks by lines, each of which gets the time when it came."""

    def __init__(self, command: str):
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._lines: queue.Queue[tuple[float, str | None]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.told_s = time.perf_counter()

    def _read(self) -> None:
        assert self._process.stdout is not None, "it is a pipe"
        for line in self._process.stdout:
            self._lines.put((time.perf_counter(), line.rstrip("\n")))
        self._lines.put((time.perf_counter(), None))

    def send(self, line: str) -> None:
        """Writes a line. `told_s` is when."""
        assert self._process.stdin is not None, "it is a pipe"
        self.told_s = time.perf_counter()
        with contextlib.suppress(BrokenPipeError):  # `until` raises
            self._process.stdin.write(f"{line}\n")

    def until(self, is_it: Callable[[str], bool]) -> tuple[float, str]:
        """Returns the next line of a kind, and the seconds since the last `send`. Raises EOFError if it has ended."""
        while True:
            came_s, line = self._lines.get(timeout=PATIENCE_S)
            if line is None:
                raise EOFError
            if is_it(line):
                return came_s - self.told_s, line

    def close(self) -> None:
        """Ends the program."""
        self.send("quit")
        self._process.wait(PATIENCE_S)


# --- latency ---


def measure(arguments: argparse.Namespace) -> None:
    """Prints the latencies of both protocols."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {REPEATS} analyses each")
    gtp = Program(f"{arguments.azero} gtp {arguments.go_agent}")
    every = f"{100 * INTERVAL_S:g}"
    measure_one("GTP", gtp, f"kata-analyze b {every}", "name", lambda line: line == "")
    uci = Program(f"{arguments.azero} uci {arguments.other_agent}")
    measure_one("UCI", uci, "go infinite", "stop", lambda line: line.startswith("bestmove"))


def measure_one(name: str, program: Program, begin: str, end: str, is_end: Callable[[str], bool]) -> None:
    """Prints the latencies of a program: of its first line, of the lines after it, and of its end."""
    first, others, ends = list[float](), list[float](), list[float]()
    ready, is_ready = ("isready", "readyok") if name == "UCI" else ("protocol_version", "= 2")
    for number in range(REPEATS):
        program.send(ready)
        program.until(lambda line: line == is_ready)
        program.send(f"position startpos{' moves a2a3' * (number % 2)}" if name == "UCI" else "clear_board")
        if name == "GTP":
            program.send(f"play w {'ABCDEFGH'[number % 8]}{number % 9 + 1}")
        program.send(ready)
        program.until(lambda line: line == is_ready)
        program.send(begin)
        at, _ = program.until(lambda line: line.startswith("info"))
        first.append(at)
        for _ in range(LINES if name == "GTP" else 2):
            now, _ = program.until(lambda line: line.startswith("info"))
            others.append(now - at)
            at = now
        program.send(end)
        ends.append(program.until(is_end)[0])
    program.close()
    print(f"{name}: first line {shown(first)}; intervals {shown(others)}; end {shown(ends)}")


def shown(times: list[float]) -> str:
    """Returns the median, the shortest and the longest time."""
    return f"{1000 * statistics.median(times):.0f} ms ({1000 * min(times):.0f} to {1000 * max(times):.0f})"


# --- the referee ---


class Player:
    """An engine, its score and its troubles."""

    def __init__(self, command: str, variant: str):
        self.command, self.points, self.troubles = command, 0.0, 0
        self.least_s = float("inf")  # that was left at the end of a move
        self.program = Program(command)
        self.program.send("uci")
        self.program.until(lambda line: line == "uciok")
        self.program.send(f"setoption name UCI_Variant value {variant}")
        self.begin_game()

    def begin_game(self) -> None:
        """Begins a game."""
        for line in ("ucinewgame", "isready"):
            self.program.send(line)
        self.program.until(lambda line: line == "readyok")


def play(ffish: Any, variant: str, players: list[Player], opening: list[str], arguments: argparse.Namespace) -> str:
    """Plays a game, whose first player is the first one; gives the points. Returns what happened."""
    start, moves, left = ffish.start_fen(variant), list(opening), [arguments.clock, arguments.clock]
    for player in players:
        player.begin_game()
    while True:
        mover = len(moves) % 2
        legal = ffish.legal_moves(variant, start, moves)
        is_over, value = ffish.is_immediate_game_end(variant, start, moves)
        if is_over or not legal:
            value = value if is_over else ffish.game_result(variant, start, moves)
            for number, player in enumerate(players):
                player.points += 0.5 if value == 0 else float((value > 0) == (number == mover))
            return f"{len(moves)} plies"
        player = players[mover]
        times = f"wtime {1000 * left[0]:.0f} btime {1000 * left[1]:.0f}" if arguments.clock else arguments.go
        player.program.send(f"position startpos moves {' '.join(moves)}")
        player.program.send(f"go {times}")
        try:
            used_s, line = player.program.until(lambda line: line.startswith("bestmove"))
            left[mover] -= used_s
            player.least_s = min(player.least_s, left[mover])
            trouble = f"{line!r} is not legal" * (line.split()[1] not in legal)
            if arguments.clock and left[mover] < 0:
                trouble = f"its clock ran out by {-left[mover]:.3f} s"
        except EOFError:
            trouble = "it has ended"
            player.program = Player(player.command, variant).program
        if trouble:
            player.troubles += 1
            players[1 - mover].points += 1
            return f"{player.command}: {trouble} after {' '.join(moves)}"
        moves.append(line.split()[1])


def referee(arguments: argparse.Namespace) -> int:
    """Plays a match; returns 1 if an engine had trouble."""
    import pyffish

    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(arguments.busy)]
    try:
        rng, players = random.Random(arguments.seed), [Player(each, arguments.variant) for each in arguments.engines]
        opening = list[str]()
        for number in range(arguments.games):
            if number % 2 == 0:
                opening = []
                for _ in range(2):
                    start = pyffish.start_fen(arguments.variant)
                    opening.append(rng.choice(pyffish.legal_moves(arguments.variant, start, opening)))
            print(f"game {number + 1}: {play(pyffish, arguments.variant, players, opening, arguments)}", flush=True)
            players.reverse()
    finally:
        for process in busy:
            process.kill()
    for player in sorted(players, key=lambda each: arguments.engines.index(each.command)):
        left = f", least left {player.least_s:.2f} s" * bool(arguments.clock)
        print(f"{player.command}: {player.points:g} of {arguments.games}, {player.troubles} troubles{left}")
        player.program.close()
    return int(any(player.troubles for player in players))


def main() -> int:
    """Reads the arguments; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    latency = parts.add_parser("latency")
    latency.add_argument("go_agent")
    latency.add_argument("other_agent")
    latency.add_argument("--azero", default=f"{sys.executable} -m azero.cli")
    match = parts.add_parser("referee")
    match.add_argument("variant")
    match.add_argument("engines", nargs=2)
    match.add_argument("--games", type=int, default=20)
    match.add_argument("--go", default="movetime 50", help="the arguments of go, without a clock")
    match.add_argument("--clock", type=float, default=0.0, help="seconds of each player for a game")
    match.add_argument("--busy", type=int, default=0, help="programs that keep a core busy meanwhile")
    match.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.part == "referee":
        return referee(arguments)
    measure(arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
