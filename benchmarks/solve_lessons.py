"""Makes lessons of Connect Four for `training.lessons`: positions solved, in the format of docs/benchmarks.md.

    python benchmarks/solve_lessons.py openings FOLDER --plies 7
    python benchmarks/solve_lessons.py uncertain FOLDER --plies 8-13 --net connect_four --positions 10000

`openings` solves all positions of so many plies, of two mirror images one; from these follow all that are shorter, with
the moves that keep their results. `uncertain` draws positions of random games and solves those of which the net is
unsure, and a few of the others, with all of their moves. A call that was stopped is gone on with.
"""

import argparse
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

import numpy as np
from tqdm import tqdm

from azero.arena.names import make_agent
from azero.games import LOSS, State, make_game
from azero.games.connect_four_solver import ConnectFourSolver
from azero.machine import count_cores

GAME = make_game("connect_four")
HEADER = "# game: connect_four\n"
SURE = 0.7  # a value from here on, or below its negative
SHARE_OF_SURE = 0.05  # that is solved all the same
NODE_LIMIT = 4_000_000  # of a move of an uncertain position; beyond it the position is left out
AT_ONCE = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log-entries", type=int, default=24, help="the table's size, 2^24 entries: 128 MiB")
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name in ("openings", "uncertain"):
        kind = kinds.add_parser(name)
        kind.add_argument("folder", type=Path)
        kind.add_argument("--plies", required=True)
    kind.add_argument("--net", default="connect_four", help="an agent's name")
    kind.add_argument("--positions", type=int, default=10_000, help="to draw")
    kind.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    solvers = Solvers(options.log_entries)
    if options.kind == "openings":
        solve_openings(solvers, options.folder, int(options.plies))
    else:
        solve_uncertain(solvers, options)


class Solvers:
    """A solver for each thread, all with one table."""

    def __init__(self, log_entries: int):
        first = ConnectFourSolver(GAME.rules, log_entries)
        others = [ConnectFourSolver(GAME.rules, 0) for _ in range(count_cores() - 1)]
        for other in others:
            other._table = first._table  # an entry is 8 bytes, which are written at once
        self._free = [first, *others]
        self._lock = threading.Lock()

    def solve_all(
        self, states: Iterable[State], answer: Callable[[ConnectFourSolver, State], list[str]], out: Path
    ) -> None:
        """Appends to `out` the lines with which each state is answered."""

        def work(state: State) -> None:
            with self._lock:
                solver = self._free.pop()
            lines = answer(solver, state)
            with self._lock:
                self._free.append(solver)
                if lines:
                    print(*lines, sep="\n", file=file, flush=True)

        states = list(states)
        with out.open("a") as file, ThreadPoolExecutor(len(self._free)) as pool:
            for _ in tqdm(pool.map(work, states), desc=out.stem, total=len(states), mininterval=5):
                pass


def solve_openings(solvers: Solvers, folder: Path, plies: int) -> None:
    """Solves all positions of so many plies, and writes them and the shorter ones."""
    levels = [{key_of(GAME.new_initial_state()): GAME.new_initial_state()}]
    for _ in range(plies):
        after = (after for state in levels[-1].values() for _, after in moves_of(state))
        levels.append({key_of(state): state for state in after if not state.is_terminal()})
    target = folder / f"plies_{plies}.txt"
    known = read_results(target)
    left = [state for key, state in sorted(levels[plies].items()) if key not in known]
    solvers.solve_all(left, lambda solver, state: [line_of(state, solver.solve(state))], target)
    known = read_results(target)
    for ply in reversed(range(plies)):
        lines = []
        for key, state in levels[ply].items():
            results = {
                action: after.returns()[state.current_player()] if after.is_terminal() else -known[key_of(after)]
                for action, after in moves_of(state)
            }
            known[key] = int(max(results.values()))
            lines.append(line_of(state, known[key], results))
        (folder / f"plies_{ply}.txt").write_text(HEADER + "\n".join(lines) + "\n")


def read_results(path: Path) -> dict[tuple[int, int], int]:
    """Returns the results in a file, by the keys of the positions; begins the file where there is none."""
    if not path.exists():
        path.write_text(HEADER)
    lines = (line.split() for line in path.read_text().splitlines() if not line.startswith("#"))
    return {key_of(GAME.state_from_moves(moves)): int(score) for moves, score, *_ in lines}


def solve_uncertain(solvers: Solvers, options: argparse.Namespace) -> None:
    """Draws positions and solves those that the net is unsure of, a file for each `AT_ONCE` that are drawn."""
    net = make_agent(options.net, GAME).net_alone
    assert net is not None, f"{options.net} has no net"
    for number in range(-(-options.positions // AT_ONCE)):
        target = options.folder / f"uncertain_{options.seed}_{number:04d}.txt"
        if target.exists():
            continue
        rng = np.random.default_rng([options.seed, number])
        states = list(draw_uncertain(net, [int(ply) for ply in options.plies.split("-")], rng))
        unfinished = target.with_name(f".{target.name}")  # hidden files are not read
        unfinished.write_text(HEADER)
        solvers.solve_all(states, solve_moves, unfinished)
        unfinished.rename(target)


def draw_uncertain(net: Callable, plies: list[int], rng: np.random.Generator) -> Iterator[State]:
    """Yields those of `AT_ONCE` random positions that are to be solved, the longest first."""
    states = [random_position(int(rng.integers(plies[0], plies[-1] + 1)), rng) for _ in range(AT_ONCE)]
    logits = net(np.stack([state.planes() for state in states]))[1]
    results = np.exp(logits - logits.max(axis=1, keepdims=True))
    values = (results[:, 0] - results[:, 2]) / results.sum(axis=1)
    is_wanted = (np.abs(values) < SURE) | (rng.random(AT_ONCE) < SHARE_OF_SURE)
    wanted = [state for state, is_so in zip(states, is_wanted, strict=True) if is_so]
    yield from sorted(wanted, key=lambda state: -len(state.history()))


def random_position(plies: int, rng: np.random.Generator) -> State:
    """Returns a position of a random game that goes on."""
    while True:
        state = GAME.new_initial_state()
        while len(state.history()) < plies and not state.is_terminal():
            state.apply_action(int(rng.choice(state.legal_actions())))
        if not state.is_terminal():
            return state


def solve_moves(solver: ConnectFourSolver, state: State) -> list[str]:
    """Returns the lines of a position and of those its moves lead to; none where one is beyond the limit."""
    lines, results = [], {}
    for action, after in moves_of(state):
        if after.is_terminal():
            results[action] = int(after.returns()[state.current_player()])
            continue
        result = solver.solve(after, NODE_LIMIT)
        if result is None:
            return []
        results[action] = -result
        lines.append(line_of(after, result))
    return [line_of(state, max(results.values()), results), *lines]


def moves_of(state: State) -> Iterator[tuple[int, State]]:
    """Yields each action with the position it leads to."""
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        yield action, after


def key_of(state: State) -> tuple[int, int]:
    """Returns the stones of both players, which are the same for mirror images."""
    stones = [int(each).to_bytes(8, "little")[: GAME.rules.columns] for each in state.record.stones]
    return min((int.from_bytes(a, order), int.from_bytes(b, order)) for order in ("little", "big") for a, b in [stones])


def line_of(state: State, result: int | None, results: Mapping[int, float] = MappingProxyType({})) -> str:
    """Returns a position's line, with the moves that keep its result, if the results of moves are given."""
    moves = "".join(str(action + 1) for action in state.history()) or "-"
    keeping = [str(action + 1) for action, own in results.items() if own == result != LOSS]
    return " ".join([moves, str(result), *keeping])


if __name__ == "__main__":
    main()
