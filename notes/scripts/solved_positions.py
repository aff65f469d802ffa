"""Writes solved positions of Connect Four of all plies as arrays, for `train_on_solved.py`.

    pip install bitbully==0.0.79 bitbully-databases==0.0.2
    PYTHONPATH=benchmarks:notes/scripts python notes/scripts/solved_positions.py solved.npz --held-out held_out.txt

Positions of at most 12 plies are from BitBully's book (`benchmarks/positions.py book`): all of at most 10 plies, 1.2
million of 11, 0.7 million of 12. BitBully solves those of 13 to 38 plies, after random moves (`middle_lessons.py`).
Of two mirror images there is one. Positions of azero's own benchmark are left out, and one in 64 of plies 6 to 11,
which are held out.

The arrays are, for each position: `stones` [n, 2] uint64 as in azero's states, `plies`, `results` for the player to
move (int8), and `moves` (uint8): a bit for each column whose move keeps the result, or, in a lost position, loses
last. It is 0 where moves are not solved: in positions of 11 plies that are lost, of 12, and of 13 to 20 from
`--middle`.
"""

import argparse
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from bitbully import bitbully_core
from bitbully_databases import BitBullyDatabases
from middle_lessons import KEPT, Board, board_of, legal_in, random_moves
from positions import (
    BOOK_PLIES,
    in_standard_view,
    lines_of,
    moves_of,
    moves_to,
    results_in_benchmark,
    results_in_book,
    solve_levels,
    stones_of,
    write_lines,
)

MOST_OF_A_PLY = {11: 1_200_000, 12: 700_000}
HELD_OUT_PLIES, HELD_OUT_SHARE_BITS = range(6, 12), 6
MIDDLE_PLIES = [13] * 10 + [14] * 18 + [15] * 18 + [16] * 18 + [17] * 14 + [18] * 10 + [19] * 6 + [20] * 6
LATE_PLIES = list(range(20, 39))


class Solved(NamedTuple):
    """Positions of the same ply, in the form of `benchmarks/positions.py`, with results and moves as above."""

    ply: int
    positions: np.ndarray
    results: np.ndarray
    moves: np.ndarray


def book_positions(
    rng: np.random.Generator, score: Callable[[Board], list[int]], held_out: list[str]
) -> Iterator[Solved]:
    """Yields the positions of the book and before it; adds lines of held-out ones to `held_out`."""
    known = list(results_in_benchmark())
    levels = solve_levels()
    for ply, (positions, of_moves) in enumerate(levels):
        best = of_moves.max(axis=1)
        moves = ((of_moves == best[:, None]) & (best[:, None] >= 0)) @ (1 << np.arange(7))
        is_free = ~np.isin(positions, known)
        if ply in HELD_OUT_PLIES:
            hashes = positions * np.uint64(0x9E3779B97F4A7C15)
            is_held = hashes >> np.uint64(64 - HELD_OUT_SHARE_BITS) == 0
            some = rng.permutation(np.flatnonzero(is_free & is_held))[:300]
            held_out += lines_of(positions[some], of_moves[some])
            is_free &= ~is_held
        chosen = rng.permutation(np.flatnonzero(is_free))[: MOST_OF_A_PLY.get(ply)]
        if ply not in MOST_OF_A_PLY:
            for index in chosen[best[chosen] < 0]:
                board = board_of([int(each) - 1 for each in moves_to(positions[index])])
                moves[index] = last_to_lose(board, score(board))
        yield Solved(ply, positions[chosen], best[chosen], moves[chosen])
    after = [each[goes_on] for each, goes_on, _ in moves_of(levels[-1][0], BOOK_PLIES - 1)]
    last = np.unique(np.concatenate(after))
    last = rng.permutation(last[~np.isin(last, known)])[: MOST_OF_A_PLY[BOOK_PLIES]]
    yield Solved(BOOK_PLIES, last, results_in_book(last), np.zeros(len(last), np.int64))


def last_to_lose(board: Board, scores: list[int]) -> int:
    """Returns the bits of the moves with the highest score."""
    legal = legal_in(board)
    top = max(scores[column] for column in legal)
    return sum(1 << column for column in legal if scores[column] == top)


def solved_after_random_moves(
    plies: list[int], number: int, seed: int, solve: Callable[[Board], tuple[int, int]], known: set[int]
) -> Iterator[Solved]:
    """Yields positions one by one, no two of them mirror images. Of those won at once, a fifth is kept."""
    rng, num_found = random.Random(seed), 0
    while num_found < number:
        moves = random_moves(rng.choice(plies), rng)
        board = board_of(moves or [])
        wins = any(board.canWin(column) for column in legal_in(board))
        if moves is None or not legal_in(board) or (wins and rng.random() > KEPT):
            continue
        stones, heights = [0, 0], [0] * 7
        for ply, column in enumerate(moves):
            stones[ply % 2] |= 1 << 8 * column + heights[column]
            heights[column] += 1
        position = in_standard_view(np.array([stones[0] + (stones[0] | stones[1])], np.uint64))
        if int(position[0]) in known:
            continue
        known.add(int(position[0]))
        num_found += 1
        as_written = np.array([stones[0] + (stones[0] | stones[1])], np.uint64)
        result, keeping = solve(board)
        yield Solved(len(moves), as_written, np.array([result]), np.array([keeping]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--held-out", type=Path, required=True)
    parser.add_argument("--middle", type=int, default=20_000, help="positions of 13 to 20 plies, about 80 per second")
    parser.add_argument("--late", type=int, default=110_000, help="positions of 20 to 38 plies, about 400 per second")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    solver = bitbully_core.BitBullyCore(BitBullyDatabases.get_database_path("12-ply-dist"))

    def solve_value(board: Board) -> tuple[int, int]:
        return int(np.sign(solver.nullWindow(board))), 0

    def solve_moves(board: Board) -> tuple[int, int]:
        scores = solver.scoreMoves(board)
        results = {column: int(np.sign(scores[column])) for column in legal_in(board)}
        best = max(results.values())
        if best < 0:
            return best, last_to_lose(board, scores)
        return best, sum(1 << column for column, each in results.items() if each == best)

    held_out: list[str] = []
    known = {int(each) for each in results_in_benchmark()}
    found = list(book_positions(np.random.default_rng(options.seed), solver.scoreMoves, held_out))
    found += solved_after_random_moves(MIDDLE_PLIES, options.middle, options.seed, solve_value, known)
    found += solved_after_random_moves(LATE_PLIES, options.late, options.seed + 1, solve_moves, known)
    positions = np.concatenate([each.positions for each in found])
    plies = np.repeat([each.ply for each in found], [len(each.positions) for each in found])
    results, moves = (np.concatenate([getattr(each, name) for each in found]) for name in ("results", "moves"))
    stones = np.stack(stones_of(positions), axis=1)
    small = {"plies": plies.astype(np.int32), "results": results.astype(np.int8), "moves": moves.astype(np.uint8)}
    np.savez_compressed(options.out, stones=stones, **small)
    write_lines(options.held_out, held_out)


if __name__ == "__main__":
    main()
