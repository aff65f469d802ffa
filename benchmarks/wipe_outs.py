"""Writes openings of Othello in which a move loses all stones, as a benchmark in the format of docs/solved_positions.md.

    python benchmarks/wipe_outs.py wipe_outs.txt --positions 200
    azero evaluate othello_8x8@400 --benchmark wipe_outs.txt

Games are random for one side. The other side mostly plays the move that leaves the fewest stones and replies. Positions
are taken from games in which the random side loses all stones. A move is lost if the opponent can force that within
`PLIES` plies, this move included. The lines list the other moves; the score 0 stands for an unknown result.

The stones and the search are this script's own, so that it also checks azero's rules.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np

from azero.system.files import write_whole

PLIES = 12
MOST_POSITIONS = 60_000  # of the search that judges one move; a move that needs more counts as not lost
LONGEST_GAME = 24
LAST_POSITIONS = 6  # of a game, that are judged

WORD = numba.uint64
INNER, ALL = np.uint64(0x7E7E7E7E7E7E7E7E), np.uint64(0xFFFFFFFFFFFFFFFF)
SHIFTS, MASKS = np.array([1, 8, 7, 9], np.uint64), np.array([INNER, ALL, INNER, INNER], np.uint64)


@numba.njit(WORD(WORD, WORD))
def moves_of(own, theirs):
    """Returns the cells where `own` can put a stone."""
    moves = np.uint64(0)
    for way in range(4):
        enemies = theirs & MASKS[way]
        up, down = enemies & own << SHIFTS[way], enemies & own >> SHIFTS[way]
        for _ in range(5):
            up |= enemies & up << SHIFTS[way]
            down |= enemies & down >> SHIFTS[way]
        moves |= up << SHIFTS[way] | down >> SHIFTS[way]
    return moves & ~(own | theirs)


@numba.njit(WORD(WORD, WORD, WORD))
def turned_by(own, theirs, stone):
    """Returns the stones that `stone` of `own` turns over."""
    turned = np.uint64(0)
    for way in range(4):
        enemies = theirs & MASKS[way]
        up, down = enemies & stone << SHIFTS[way], enemies & stone >> SHIFTS[way]
        for _ in range(5):
            up |= enemies & up << SHIFTS[way]
            down |= enemies & down >> SHIFTS[way]
        turned |= up if up << SHIFTS[way] & own else np.uint64(0)
        turned |= down if down >> SHIFTS[way] & own else np.uint64(0)
    return turned


@numba.njit(numba.int64(WORD))
def count(cells):
    number = 0
    while cells:
        cells &= cells - np.uint64(1)
        number += 1
    return number


@numba.njit(numba.boolean(WORD, WORD, numba.int64, numba.boolean, numba.int64[:]))
def wipes_out(own, theirs, plies, is_attacking, seen):
    """Returns whether the attacker, who moves if `is_attacking`, can take all stones within `plies` plies."""
    seen[0] += 1
    defender = theirs if is_attacking else own
    num_left = (plies + 1) // 2 if is_attacking else plies // 2  # moves of the attacker
    if defender == 0:
        return True
    if seen[0] > MOST_POSITIONS or plies == 0 or count(defender) > 4 * num_left + 2:
        return False
    moves = moves_of(own, theirs)
    if moves == 0:
        return moves_of(theirs, own) != 0 and wipes_out(theirs, own, plies - 1, not is_attacking, seen)
    stones, order, num = np.zeros(32, np.uint64), np.zeros(32, np.int64), 0
    while moves:
        stone = moves & (~moves + np.uint64(1))
        turned = turned_by(own, theirs, stone)
        stones[num], order[num] = stone, -count(turned)
        if is_attacking:
            order[num] += 2 * count(moves_of(theirs ^ turned, own | stone | turned))
        moves ^= stone
        num += 1
    for k in np.argsort(order[:num]):
        turned = turned_by(own, theirs, stones[k])
        if wipes_out(theirs ^ turned, own | stones[k] | turned, plies - 1, not is_attacking, seen) == is_attacking:
            return is_attacking
    return not is_attacking


def list_cells(cells: int) -> list[int]:
    return [cell for cell in range(64) if cells >> cell & 1]


def after(own: int, theirs: int, cell: int) -> tuple[int, int]:
    """Returns the stones of the next player and of the other one."""
    turned = int(turned_by(np.uint64(own), np.uint64(theirs), np.uint64(1 << cell)))
    return theirs ^ turned, own | turned | 1 << cell


def legal_cells(own: int, theirs: int) -> list[int]:
    return list_cells(int(moves_of(np.uint64(own), np.uint64(theirs))))


def is_lost(own: int, theirs: int, cell: int) -> bool:
    """Returns whether the move to `cell` loses all stones by force."""
    following, seen = [np.uint64(each) for each in after(own, theirs, cell)], np.zeros(1, np.int64)
    return any(wipes_out(*following, plies, True, seen) for plies in range(1, PLIES, 2))


def wiped_out_games(rng: np.random.Generator) -> Iterator[list[tuple[int, int, list[int]]]]:
    """Yields games in which one side loses all stones: its positions with the moves that led there, last one first."""
    while True:
        own, theirs = (1 << 28 | 1 << 35), (1 << 27 | 1 << 36)
        victim, line, positions = int(rng.integers(2)), list[int](), []
        while own and len(line) < LONGEST_GAME and (cells := legal_cells(own, theirs)):
            if len(line) % 2 == victim:
                positions.append((own, theirs, line.copy()))
            following = [after(own, theirs, cell) for cell in cells]
            harm = [each[0].bit_count() + 2 * len(legal_cells(*each)) + rng.random() for each in following]
            is_random = len(line) % 2 == victim or rng.random() < 0.2
            chosen = int(rng.integers(len(cells)) if is_random else np.argmin(harm))
            line.append(cells[chosen])
            own, theirs = following[chosen]
        if not own:
            yield positions[: -LAST_POSITIONS - 1 : -1]


def name_of(cell: int) -> str:
    return f"{'abcdefgh'[cell % 8]}{cell // 8 + 1}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    lines: dict[tuple[int, int], str] = {}
    for positions in wiped_out_games(np.random.default_rng(options.seed)):
        for own, theirs, line in positions:
            cells = legal_cells(own, theirs)
            kept = [cell for cell in cells if not is_lost(own, theirs, cell)] if len(cells) > 1 else []
            if 0 < len(kept) < len(cells) and len(lines) < options.positions:
                lines[own, theirs] = f"{''.join(map(name_of, line))} 0 {' '.join(map(name_of, kept))}"
        if len(lines) >= options.positions:
            break
    write_whole(options.file, "\n".join(["# game: othello", *lines.values(), ""]).encode())


if __name__ == "__main__":
    main()
