"""Plays azero's nets against programs that others wrote: the matches of strength.toml, one after another.

    python benchmarks/strength.py
    python benchmarks/strength.py othello go --games 20

Words choose rows by name, or by how names begin. Each match is an `azero evaluate --out`, so after Ctrl-C, or the
failure of an opponent, the same command plays the missing games, and with more --games it adds some. Finished games are
kept in results/strength/. After each match docs/strength.json has its result, from which `make docs` makes
docs/strength.md.

A row whose opponent is not installed is skipped. If an opponent ends, does not answer, or makes an illegal move, its
match goes on as long as games are finished. `perfect` needs `pip install bitbully==0.0.79 bitbully-databases==0.0.2`.
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import azero
from azero.arena.agents.agent import Agent
from azero.arena.agents.names import parse_name
from azero.arena.agents.suggestion import Suggestion, lone_move
from azero.arena.matches.match import play_match
from azero.arena.matches.openings import read_openings
from azero.errors import BadInput
from azero.games import State
from azero.system.files import write_whole
from azero.system.machine import cpu_name

ROOT = Path(__file__).resolve().parent.parent
ROWS, RESULTS = ROOT / "benchmarks" / "strength.toml", ROOT / "docs" / "strength.json"
KEPT = ROOT / "results" / "strength"
PERFECT = "perfect"
VERSION_S = 20.0


def why_missing(row: dict[str, Any]) -> str:
    """Returns why a row cannot be played here; empty if it can."""
    if row["opponent"] == PERFECT:
        return "" if importlib.util.find_spec("bitbully_databases") else "bitbully is not installed"
    command = parse_name(row["opponent"]).command
    program = shlex.split(command)[0] if command else ""
    return "" if not program or shutil.which(program) else f"{program} is not on PATH"


def version_of(row: dict[str, Any]) -> str:
    """Returns the first line that the opponent's program says of its version; empty if it says none."""
    if row["opponent"] == PERFECT:
        return f"BitBully {importlib.metadata.version('bitbully')}"
    if "version" not in row:
        return ""
    with contextlib.suppress(subprocess.TimeoutExpired):
        said = subprocess.run(
            shlex.split(row["version"]), input="quit\n", capture_output=True, text=True, timeout=VERSION_S
        )
        return next(iter(f"{said.stdout}{said.stderr}".splitlines()), "").strip()
    return ""


def play(name: str, row: dict[str, Any], games: int, threads: int) -> None:
    """Plays a match as long as games are finished, and writes its result after each of its parts."""
    command = [sys.executable, "-m", "azero.cli", "evaluate", row["agent"], "--against", row["opponent"]]
    command += [*row.get("options", []), "--games", str(games), "--threads", str(threads), "--json"]
    num_before = 0
    while True:
        ended = subprocess.run([*command, "--out", str(KEPT / f"{name}.jsonl")], stdout=subprocess.PIPE, text=True)
        result = json.loads(ended.stdout) if ended.stdout else {"games": 0}
        if result["games"]:
            write(name, row, result)
        if ended.returncode == 130:
            raise SystemExit(130)
        if ended.returncode != 1 or result["games"] <= num_before:
            return
        num_before = result["games"]
        print(f"{name}: goes on after {num_before} games", file=sys.stderr)


def write(name: str, row: dict[str, Any], result: dict[str, Any]) -> None:
    """Adds a row's result to docs/strength.json, and prints it. Without new games nothing changes."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if kept.get(name, {}).get("games") == result["games"]:
        return
    fields = ("games", "wins", "draws", "losses", "score", "score_ci95", "elo", "elo_ci95", "distinct_games")
    counts = ("mistakes", "mistakes_of_moves", "games_with_mistakes")
    kept[name] = {
        "agent": row["agent"],
        "opponent": row["opponent"],
        "version": version_of(row),
        **{key: result[key] for key in (*fields, *counts) if key in result},
        "simulations": result["simulations_per_move"][0],
        "cpu": cpu_name(),
        "load": round(os.getloadavg()[2], 1),
        "on": datetime.date.today().isoformat(),
    }
    write_whole(RESULTS, f"{json.dumps(kept, indent=1)}\n".encode())
    low, high = result["score_ci95"]
    print(f"{name}: {100 * result['score']:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {result['games']} games")


# --- Connect Four against a perfect player ---


class Perfect(Agent):
    """Wins as early as it can, and loses as late as it can, by BitBully, of Markus Thill, and its book."""

    def __init__(self) -> None:
        from bitbully import bitbully_core
        from bitbully_databases import BitBullyDatabases

        super().__init__(PERFECT, azero.make_game("connect_four"))
        self._board = bitbully_core.BoardCore
        self._solver = bitbully_core.BitBullyCore(BitBullyDatabases.get_database_path("12-ply-dist"))

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        scores = self.scores(state.history())
        return lone_move(state, max(range(len(scores)), key=scores.__getitem__))

    def scores(self, actions: Sequence[int]) -> list[int]:
        """Returns each column's score for the player to move, above zero if it wins; a full column has the lowest."""
        board = self._board()
        for action in actions:
            board.play(action)
        return self._solver.scoreMoves(board)


def play_perfect(name: str, row: dict[str, Any], games: int) -> None:
    """Plays against the perfect player, and counts azero's mistakes: moves with a worse result than the best one."""
    perfect = Perfect()
    file = row["options"][row["options"].index("--openings") + 1]
    openings = read_openings(file, perfect.game)
    with contextlib.closing(azero.make_agent(row["agent"], game=perfect.game, threads=1)) as agent:
        result = play_match(agent, perfect, perfect.game, games, out=KEPT / f"{name}.jsonl", openings=openings)
    mistakes = moves = with_mistakes = 0
    for each in result.results:
        own = 0
        for ply in range(each.opening_plies, len(each.actions)):
            if (ply % 2 == 0) == each.a_is_first:
                scores = perfect.scores(each.actions[:ply])
                own += sign(scores[each.actions[ply]]) < sign(max(scores))
                moves += 1
        mistakes, with_mistakes = mistakes + own, with_mistakes + bool(own)
    counted = {"mistakes": mistakes, "mistakes_of_moves": moves, "games_with_mistakes": with_mistakes}
    write(name, row, result.to_json() | counted)


def sign(score: int) -> int:
    """Returns 1 for a win, 0 for a draw, -1 for a loss."""
    return (score > 0) - (score < 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="NAME", help="a row, or the beginning of names; all by default")
    parser.add_argument("--games", type=int, help="games of each match, instead of the row's own number")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    rows = tomllib.loads(ROWS.read_text())
    words = options.rows or [""]
    starts = tuple(word for word in words if word not in rows)
    chosen = {name: row for name, row in rows.items() if name in words or name.startswith(starts)}
    if not chosen:
        raise SystemExit(f"no row begins with {' or '.join(options.rows)}; there are {', '.join(rows)}")
    for name, row in chosen.items():
        games = options.games or row["games"]
        if missing := why_missing(row):
            print(f"{name}: skipped, {missing}", file=sys.stderr)
        elif row["opponent"] == PERFECT:
            try:
                play_perfect(name, row, games)
            except BadInput as error:
                print(f"{name}: {error}", file=sys.stderr)
        else:
            play(name, row, games, options.threads)


if __name__ == "__main__":
    main()
