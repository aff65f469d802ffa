"""Writes positions with known results, in the format of docs/solved_positions.md.

    python benchmarks/positions.py endings endings.txt --positions 500 --empties 14
    python benchmarks/positions.py wipe-outs wipe_outs.txt --positions 200
    python benchmarks/positions.py book FOLDER --net connect_four --held-out held_out.txt

    azero evaluate othello_6x6@200 --benchmark endings.txt
    azero evaluate othello_8x8@400 --benchmark wipe_outs.txt

`endings` of Othello. The games are played by the net with few simulations against UCT, after random openings. One
position is taken of each game, with 4 to `--empties` empty cells and at least two moves. Alpha-beta solves every move.
A position is kept if the player to move has a draw or a win, and a move that loses it.

`wipe-outs`: openings of Othello in which a move loses all stones. Games are random for one side. The other side mostly
plays the move that leaves the fewest stones and replies. Positions are taken from games in which the random side loses
all stones. A move is lost if the opponent can force that within `PLIES` plies, this move included. The lines list the
other moves; the score 0 stands for an unknown result. The stones and the search are this script's own, so that it also
checks azero's rules.

`book`: lessons of Connect Four for `training.lessons`, from BitBully's book of openings, by Markus Thill (`pip install
bitbully-databases==0.0.2`). It has the results of positions after 12 plies. The script computes those of earlier
positions, and writes one of two mirror images. All positions of at most 7 plies are written four times each, because
they are few. Of the positions of 8 to 11 plies it writes a sample, mostly positions of which the net is unsure.
Positions of azero's own benchmark are omitted. So are the held-out positions, which are drawn from all positions of 8
to 11 plies.
"""

import argparse
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path

import numba
import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.make import make_agent
from azero.arena.matches.openings import draw_openings
from azero.arena.solved.files import read_benchmark
from azero.exact.solver import solve
from azero.games import LOSS, State, make_game
from azero.games.othello.rules import Othello
from azero.system.files import write_whole

FEWEST_EMPTY = 4
PLAYERS = "@20", "uct@100"


def endings(net: Agent, rival: Agent, most_empty: int, seed: int) -> Iterator[State]:
    """Yields one position with a choice of each game, for ever."""
    rng = np.random.default_rng(seed)
    for number, opening in enumerate(draw_openings(net.game, 10, seed)):
        state, reached = opening.clone(), []
        players = (net, rival) if number % 2 else (rival, net)
        while not state.is_terminal():
            if FEWEST_EMPTY <= num_empty(state) <= most_empty and len(state.legal_actions()) > 1:
                reached.append(state.clone())
            state.apply_action(int(players[state.current_player()].suggest(state).action))
        if reached:
            yield reached[rng.integers(len(reached))]


def num_empty(state: State) -> int:
    """Returns the number of empty cells: the first two planes have the stones."""
    planes = state.planes()
    return int(planes[0].size - planes[:2].sum())


def results_of_moves(state: State) -> dict[int, float]:
    """Returns the result of each legal move under best play, for the player to move."""
    sign = 1 - 2 * state.current_player()
    results = {}
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        value = solve(after).value
        assert value is not None, "there is no limit"
        results[action] = sign * value
    return results


def line_of_ending(state: State, result: float, keeping: list[int]) -> str:
    """Returns a position, its result and the moves that keep it, as a line of a benchmark."""
    moves, replay = [], state.game.new_initial_state()
    for action in state.history():
        moves.append(state.game.action_to_text(replay, action))
        replay.apply_action(action)
    keep = " ".join(state.game.action_to_text(state, action) for action in keeping)
    return f"{','.join(moves)} {result:g} {keep}"


def add_endings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path)
    parser.add_argument("--net", default="othello_6x6(solve_nodes=0)", help="an agent of Othello")
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--empties", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)


def write_endings(options: argparse.Namespace) -> None:
    """Solved endings of Othello."""
    net = make_agent(f"{options.net}{PLAYERS[0]}", seed=options.seed)
    if not isinstance(net.game.rules, Othello):
        raise SystemExit(f"{options.net} plays {net.game}, not Othello")
    rival = make_agent(PLAYERS[1], net.game, seed=options.seed)
    lines: list[str] = []
    seen: set[str] = set()
    for state in endings(net, rival, options.empties, options.seed):
        values = results_of_moves(state)
        best = max(values.values())
        if best == LOSS or min(values.values()) == best or state.to_text() in seen:
            continue
        seen.add(state.to_text())
        lines.append(line_of_ending(state, best, [action for action, value in values.items() if value == best]))
        if len(lines) == options.positions:
            break
    text = "\n".join([f"# game: {net.game}", f"# Endings of at most {options.empties} empty cells.", *lines, ""])
    write_whole(options.file, text.encode())


PLIES = 12
MOST_POSITIONS = 60_000  # of the search that judges one move; a move that needs more counts as not lost
LONGEST_GAME = 24
LAST_POSITIONS = 6  # of a game, that are judged

WORD = numba.uint64
INNER, ALL = np.uint64(0x7E7E7E7E7E7E7E7E), np.uint64(0xFFFFFFFFFFFFFFFF)
SHIFTS, MASKS = np.array([1, 8, 7, 9], np.uint64), np.array([INNER, ALL, INNER, INNER], np.uint64)


@numba.njit(WORD(WORD, WORD))
def replies_of(own, theirs):
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
    moves = replies_of(own, theirs)
    if moves == 0:
        return replies_of(theirs, own) != 0 and wipes_out(theirs, own, plies - 1, not is_attacking, seen)
    stones, order, num = np.zeros(32, np.uint64), np.zeros(32, np.int64), 0
    while moves:
        stone = moves & (~moves + np.uint64(1))
        turned = turned_by(own, theirs, stone)
        stones[num], order[num] = stone, -count(turned)
        if is_attacking:
            order[num] += 2 * count(replies_of(theirs ^ turned, own | stone | turned))
        moves ^= stone
        num += 1
    for k in np.argsort(order[:num]):
        turned = turned_by(own, theirs, stones[k])
        if wipes_out(theirs ^ turned, own | stones[k] | turned, plies - 1, not is_attacking, seen) == is_attacking:
            return is_attacking
    return not is_attacking


def list_cells(cells: int) -> list[int]:
    return [cell for cell in range(64) if cells >> cell & 1]


def after_move(own: int, theirs: int, cell: int) -> tuple[int, int]:
    """Returns the stones of the next player and of the other one."""
    turned = int(turned_by(np.uint64(own), np.uint64(theirs), np.uint64(1 << cell)))
    return theirs ^ turned, own | turned | 1 << cell


def legal_cells(own: int, theirs: int) -> list[int]:
    return list_cells(int(replies_of(np.uint64(own), np.uint64(theirs))))


def is_lost(own: int, theirs: int, cell: int) -> bool:
    """Returns whether the move to `cell` loses all stones by force."""
    following, seen = [np.uint64(each) for each in after_move(own, theirs, cell)], np.zeros(1, np.int64)
    return any(wipes_out(*following, plies, True, seen) for plies in range(1, PLIES, 2))


def wiped_out_games(rng: np.random.Generator) -> Iterator[list[tuple[int, int, list[int]]]]:
    """Yields games in which one side loses all stones: its positions with the moves that led there, last one first."""
    while True:
        own, theirs = (1 << 28 | 1 << 35), (1 << 27 | 1 << 36)
        victim, line, positions = int(rng.integers(2)), list[int](), []
        while own and len(line) < LONGEST_GAME and (cells := legal_cells(own, theirs)):
            if len(line) % 2 == victim:
                positions.append((own, theirs, line.copy()))
            following = [after_move(own, theirs, cell) for cell in cells]
            harm = [each[0].bit_count() + 2 * len(legal_cells(*each)) + rng.random() for each in following]
            is_random = len(line) % 2 == victim or rng.random() < 0.2
            chosen = int(rng.integers(len(cells)) if is_random else np.argmin(harm))
            line.append(cells[chosen])
            own, theirs = following[chosen]
        if not own:
            yield positions[: -LAST_POSITIONS - 1 : -1]


def name_of(cell: int) -> str:
    return f"{'abcdefgh'[cell % 8]}{cell // 8 + 1}"


def add_wipe_outs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path)
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)


def write_wipe_outs(options: argparse.Namespace) -> None:
    """Openings of Othello in which a move loses all stones."""
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


def add_book(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("--net", default="connect_four", help="an agent's name")
    parser.add_argument("--sample", type=int, default=100_000, help="positions drawn of each of 8 to 11 plies")
    parser.add_argument("--held-out", type=Path, metavar="FILE", help="write 1,000 positions for a benchmark there")
    parser.add_argument("--seed", type=int, default=0)


def write_book(options: argparse.Namespace) -> None:
    """Lessons of Connect Four from a book of openings."""
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


COMMANDS = {
    "endings": (add_endings, write_endings, "solved endings of Othello"),
    "wipe-outs": (add_wipe_outs, write_wipe_outs, "openings of Othello in which a move loses all stones"),
    "book": (add_book, write_book, "lessons of Connect Four from a book of openings"),
}
"""See `subcommands.py`."""


if __name__ == "__main__":
    from subcommands import run_command

    run_command(COMMANDS, __doc__)
