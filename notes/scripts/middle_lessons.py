"""Makes lessons of Connect Four for `training.lessons`: positions of 12 to 20 plies, solved by BitBully.

    pip install bitbully==0.0.79 bitbully-databases==0.0.2
    python notes/scripts/middle_lessons.py 12 13 4000 --out lessons/middle_12.txt

Four moves in five are random among those that do not lose at once; the others are random. One position in five that can
be won at once is kept. Positions of azero's own benchmark and their mirror images are left out.
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

from bitbully import bitbully_core
from bitbully_databases import BitBullyDatabases

from azero.arena.solved.files import read_benchmark
from azero.system.files import write_whole

CAREFUL, KEPT = 0.8, 0.2
BITS = 9  # of a column in BitBully's masks

Board = bitbully_core.BoardCore


def board_of(moves: Sequence[int]) -> Board:
    """Returns the position after these columns."""
    board = Board()
    for column in moves:
        board.play(column)
    return board


def legal_in(board: Board) -> list[int]:
    """Returns the columns that are not full."""
    return [column for column in range(7) if board.isLegalMove(column)]


def key_of(board: Board) -> int:
    """Returns the same number for a position and its mirror image."""
    return min(board.uid(), board.mirror().uid())


def random_moves(plies: int, rng: random.Random) -> list[int] | None:
    """Returns columns of so many plies; None if a player could have won on the way."""
    board, moves = Board(), list[int]()
    for _ in range(plies):
        legal = legal_in(board)
        if not legal or any(board.canWin(column) for column in legal):
            return None
        mask = board.generateNonLosingMoves()
        careful = [column for column in legal if mask >> BITS * column & (1 << BITS) - 1]
        moves.append(rng.choice(careful if careful and rng.random() < CAREFUL else legal))
        board.play(moves[-1])
    return moves


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fewest", type=int, help="plies")
    parser.add_argument("most", type=int, help="plies")
    parser.add_argument("positions", type=int)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    solver = bitbully_core.BitBullyCore(BitBullyDatabases.get_database_path("12-ply-dist"))
    problems = [each for sets in read_benchmark("connect_four_pons").sets for each in sets.problems]
    seen = {key_of(board_of(each.state.history())) for each in problems}
    lines = ["# game: connect_four"]
    while len(lines) <= options.positions:
        moves = random_moves(rng.randint(options.fewest, options.most), rng)
        board = board_of(moves or [])
        wins = any(board.canWin(column) for column in legal_in(board))
        if moves is None or key_of(board) in seen or (wins and rng.random() > KEPT):
            continue
        seen.add(key_of(board))
        scores = solver.scoreMoves(board)
        results = {column: (scores[column] > 0) - (scores[column] < 0) for column in legal_in(board)}
        best = max(results.values())
        keeping = [str(column + 1) for column, each in results.items() if each == best and best >= 0]
        lines.append(" ".join(["".join(str(column + 1) for column in moves), str(best), *keeping]))
    write_whole(options.out, "\n".join([*lines, ""]).encode())


if __name__ == "__main__":
    main()
