"""Makes sets of azero/data/benchmarks/connect_four_pons: Pascal Pons' positions, with the moves that keep results.

    python notes/scripts/solve_pons.py tests/data/connect4_pons azero/data/benchmarks/connect_four_pons

A position's score is known, so each of its moves takes one question: is what it leaves as good? A lost position takes
none. Lines are written as they are found, and a run that was stopped goes on behind the last one. The sets that take
longest, L1_R2 and L1_R3, have their moves from BitBully 0.0.79 instead (the folder's README).
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from tqdm import tqdm

from azero.arena.solved.judges import result_of
from azero.exact.connect_four import ConnectFourSolver
from azero.games import State, make_game

SETS = {
    "Test_L3_R1": "L3_R1_end_easy",
    "Test_L2_R1": "L2_R1_middle_easy",
    "Test_L2_R2": "L2_R2_middle_medium",
    "Test_L1_R1": "L1_R1_begin_easy",
    "Test_L1_R2": "L1_R2_begin_medium",
    "Test_L1_R3": "L1_R3_begin_hard",
}
HEADER = """\
# game: connect_four
# Positions and scores: Pascal Pons, "Solving Connect 4", part 2, blog.gamesolver.org, {name}.
# Moves behind the score, of positions that are not lost: all that keep the result; by notes/scripts/solve_pons.py.
"""
GAME = make_game("connect_four")


def main() -> None:
    """Writes the six sets, the quickest to solve first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="the folder of Test_L*_R*")
    parser.add_argument("target", type=Path)
    parser.add_argument("--log-entries", type=int, default=25, help="the table's size, 2^25 entries: 256 MiB")
    parser.add_argument("--first", type=int, help="positions of each set to solve; all unless given")
    options = parser.parse_args()
    solver = ConnectFourSolver(GAME.rules, options.log_entries)
    options.target.mkdir(parents=True, exist_ok=True)
    for name, called in SETS.items():
        lines = [line for line in (options.source / name).read_text().splitlines() if line.strip()][: options.first]
        target = options.target / f"{called}.txt"
        if not target.exists():
            target.write_text(HEADER.format(name=name))
        done = sum(not line.startswith("#") for line in target.read_text().splitlines())
        with target.open("a") as out:
            for line in tqdm(lines[done:], desc=called, initial=done, total=len(lines), file=sys.stderr, mininterval=5):
                print(" ".join([*line.split(), *keeping(solver, *line.split())]), file=out, flush=True)


def keeping(solver: ConnectFourSolver, moves: str, score: str) -> Iterator[str]:
    """Yields the moves that keep a position's result; none where it is lost, since all do."""
    state = GAME.state_from_moves(moves)
    result = result_of(int(score))
    for action in state.legal_actions() if result >= 0 else []:
        after = state.clone()
        after.apply_action(action)
        if leaves(solver, after) <= -result if after.is_terminal() else not solver.is_at_least(after, 1 - result):
            yield GAME.action_to_text(state, action)


def leaves(solver: ConnectFourSolver, state: State) -> float:
    """Returns the result of a game that is over for whoever would be to move."""
    return state.returns()[len(state.history()) % 2]


if __name__ == "__main__":
    main()
