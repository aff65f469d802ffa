"""Makes lessons of Connect Four for `training.lessons` from an opening book: positions with exact results.

    pip install bitbully-databases==0.0.2
    python benchmarks/book_lessons.py FOLDER --net connect_four --held-out held_out.txt

The book is BitBully's, by Markus Thill. It has the results of positions after 12 plies. The script computes the results
of earlier positions from them. It writes files in the format of docs/solved_positions.md, with one of two mirror images. All
positions of at most 7 plies are written four times each, because they are few. Of the positions of 8 to 11 plies it
writes a sample, mostly positions of which the net is unsure. Positions of azero's own benchmark are omitted. So are the
held-out positions, which are drawn from all positions of 8 to 11 plies.
"""

import argparse
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from azero.arena.agents.names import make_agent
from azero.arena.benchmarks.files import read_benchmark
from azero.games import make_game
from azero.system.files import write_whole

GAME = make_game("connect_four")
COLUMNS, BOOK_PLIES = 7, 12
WHOLE_PLIES, TIMES = 7, 4  # all positions of at most WHOLE_PLIES plies are lessons, TIMES times each
NONE = -2  # the result of an illegal move
SURE = 0.7  # the net is sure of a position if its value's magnitude is at least this
SHARE_OF_SURE = 0.15  # share of these positions that are taken nevertheless

# At a given ply, a position is one number (uint64). A byte per column holds the first player's stones plus all stones.
ONES = np.uint64(0x01010101010101)
BOARD = ONES * np.uint64(0x3F)
TO_MOVE_WINS = np.int8(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--net", default="connect_four", help="an agent's name")
    parser.add_argument("--sample", type=int, default=100_000, help="positions drawn of each of 8 to 11 plies")
    parser.add_argument("--held-out", type=Path, metavar="FILE", help="write 1,000 positions for a benchmark there")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if importlib.util.find_spec("bitbully_databases") is None:
        raise SystemExit("the book is missing: pip install bitbully-databases==0.0.2")
    net = make_agent(options.net, GAME).net_alone
    if net is None:
        raise SystemExit(f"{options.net} has no net")
    options.folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(options.seed)
    levels = solve_levels()
    known, held_out = results_in_benchmark(), []
    for ply, (positions, results) in enumerate(levels):
        is_known = np.isin(positions, list(known))
        for position, result in zip(positions[is_known], results[is_known].max(axis=1), strict=True):
            assert result == known[position], "the book and the benchmark should agree"
        chosen = rng.permutation(np.flatnonzero(~is_known))
        if ply <= WHOLE_PLIES:
            chosen = np.repeat(chosen, TIMES)
        else:
            held, chosen = np.split(chosen[: 250 + options.sample], [250])
            held_out += lines_of(positions[held], results[held])
            chosen = chosen[is_wanted(net, positions[chosen], rng)]
        write_lines(options.folder / f"plies_{ply}.txt", lines_of(positions[chosen], results[chosen]))
    if options.held_out:
        write_lines(options.held_out, held_out)


def solve_levels() -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns sorted positions, [n] uint64, and their moves' results, [n, 7] int8, for each ply before the book's."""
    levels = [np.zeros(1, np.uint64)]
    for ply in range(BOOK_PLIES):
        after = [position[goes_on] for position, goes_on, _ in moves_of(levels[-1], ply)]
        levels.append(np.unique(np.concatenate(after)))
    results, solved = results_in_book(levels[BOOK_PLIES]), []
    for ply in reversed(range(BOOK_PLIES)):
        of_moves = np.full((len(levels[ply]), COLUMNS), NONE, np.int8)
        for column, (after, goes_on, wins) in enumerate(moves_of(levels[ply], ply)):
            of_moves[goes_on, column] = -results[np.searchsorted(levels[ply + 1], after[goes_on])]
            of_moves[wins, column] = TO_MOVE_WINS
        results = of_moves.max(axis=1)
        solved.append((levels[ply], of_moves))
    return solved[::-1]


def moves_of(positions: np.ndarray, ply: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yields, for each column, the positions after its move, whether the game goes on, and whether it is won.

    If neither is true, the column is full, and the position after it is invalid.
    """
    first, second = stones_of(positions)
    taken = first | second
    for column in range(COLUMNS):
        stone = (taken + ONES) & BOARD & ~taken & np.uint64(0xFF << 8 * column)
        own = (second if ply % 2 else first) | stone
        wins, is_legal = has_line(own), stone > 0
        after = (first if ply % 2 else own) + (taken | stone)
        yield in_standard_view(after), is_legal & ~wins, is_legal & wins


def stones_of(positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the stones of both players. A column is a byte, and row 0 is its lowest bit."""
    tops = positions + ONES  # the highest bit of a column marks its height
    below = tops >> np.uint64(1) & BOARD
    for shift, cells in ((1, 0x1F), (2, 0x0F), (4, 0x03)):
        below |= below >> np.uint64(shift) & ONES * np.uint64(cells)
    first = positions - below
    return first, below & ~first


def in_standard_view(positions: np.ndarray) -> np.ndarray:
    """Returns the lesser of each position and its mirror image."""
    return np.minimum(positions, positions.byteswap() >> np.uint64(8))


def has_line(stones: np.ndarray) -> np.ndarray:
    """Returns whether there are four in a row. The two highest bits of a column are never set, so no line wraps."""
    lines = np.zeros_like(stones)
    for step in (1, 7, 8, 9):
        pairs = stones & stones >> np.uint64(step)
        lines |= pairs & pairs >> np.uint64(2 * step)
    return lines > 0


def results_in_book(positions: np.ndarray) -> np.ndarray:
    """Returns the results for the player to move, the first player.

    The book omits positions with an immediate win, and positions that lose immediately after every move.
    """
    from bitbully_databases import BitBullyDatabases

    book = np.fromfile(BitBullyDatabases.get_database_path("12-ply-dist"), np.dtype([("code", ">i4"), ("score", "i1")]))
    results = np.full(len(positions), -1, np.int8)
    codes = [code_of(each) for each in (positions, positions.byteswap() >> np.uint64(8))]  # the book has one of the two
    for each in codes:
        places = np.minimum(np.searchsorted(book["code"], each), len(book) - 1)
        is_there = book["code"][places] == each
        results[is_there] = np.sign(book["score"][places[is_there]])
    for _, _, wins in moves_of(positions, BOOK_PLIES):
        results[wins] = TO_MOVE_WINS
    return results


def code_of(positions: np.ndarray) -> np.ndarray:
    """Returns the book's codes. Per column: bits 10 for a first player's stone, 11 for a second's, and 0 at the end."""
    first, second = stones_of(positions)
    codes = np.zeros_like(positions)
    for column in range(COLUMNS):
        for row in range(6):
            cell = np.uint64(8 * column + row)
            is_second = second >> cell & np.uint64(1)
            is_taken = (first >> cell & np.uint64(1)) | is_second
            codes = codes << (is_taken * np.uint64(2)) | (is_taken * np.uint64(2) + is_second)
        codes <<= np.uint64(1)
    return (codes << np.uint64(1)).astype(np.uint32).view(np.int32)


def results_in_benchmark() -> dict[np.uint64, int]:
    """Returns the results of the positions in azero's own benchmark."""
    problems = [each for sets in read_benchmark("connect_four_pons").sets for each in sets.problems]
    stones = np.array([each.state.record.stones for each in problems])
    positions = in_standard_view(stones[:, 0] + (stones[:, 0] | stones[:, 1]))
    return dict(zip(positions, (each.result for each in problems), strict=True))


def is_wanted(net: Callable, positions: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns which positions become lessons: those of which the net is unsure, and a few others."""
    values = []
    for some in np.array_split(positions, len(positions) // 500 + 1):
        logits = net(np.stack([GAME.state_from_moves(moves_to(each)).planes() for each in some]))[1]
        results = np.exp(logits - logits.max(axis=1, keepdims=True))
        values.append((results[:, 0] - results[:, 2]) / results.sum(axis=1))
    return (np.abs(np.concatenate(values)) < SURE) | (rng.random(len(positions)) < SHARE_OF_SURE)


def lines_of(positions: np.ndarray, of_moves: np.ndarray) -> list[str]:
    """Returns a line per position: the moves to it, its result, and the moves that keep it unless it is lost."""
    lines = []
    for position, results in zip(positions, of_moves, strict=True):
        best = results.max()
        keeping = [str(column + 1) for column in np.flatnonzero(results == best)] if best >= 0 else []
        lines.append(" ".join([moves_to(position) or "-", str(best), *keeping]))
    return lines


def moves_to(position: np.uint64) -> str:
    """Returns moves that lead to a position."""
    columns = zip(*(int(each).to_bytes(8, "little") for each in stones_of(position)), strict=True)
    owners = [[second >> row & 1 for row in range((first | second).bit_length())] for first, second in columns]
    num_moves, tried = sum(map(len, owners)), set()

    def go_on(heights: tuple[int, ...], moves: str) -> str | None:
        if len(moves) == num_moves:
            return moves
        if heights in tried:
            return None
        tried.add(heights)
        for column in range(COLUMNS):
            if heights[column] < len(owners[column]) and owners[column][heights[column]] == len(moves) % 2:
                higher = (*heights[:column], heights[column] + 1, *heights[column + 1 :])
                if found := go_on(higher, moves + str(column + 1)):
                    return found
        return None

    moves = go_on((0,) * COLUMNS, "")
    assert moves is not None
    return moves


def write_lines(path: Path, lines: list[str]) -> None:
    write_whole(path, ("\n".join(["# game: connect_four", *lines]) + "\n").encode())


if __name__ == "__main__":
    main()
