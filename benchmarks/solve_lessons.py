"""Makes lessons of Connect Four for `training.lessons`: positions solved, in the format of docs/benchmarks.md.

    python benchmarks/solve_lessons.py openings FOLDER --plies 7
    python benchmarks/solve_lessons.py uncertain FOLDER --plies 8-13 --net connect_four --draws 20

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
from azero.files import write_whole
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
    openings, uncertain = kinds.add_parser("openings"), kinds.add_parser("uncertain")
    for kind in (openings, uncertain):
        kind.add_argument("folder", type=Path)
    openings.add_argument("--plies", type=int, required=True)
    uncertain.add_argument("--plies", type=ply_range, required=True, help="FEWEST-MOST")
    uncertain.add_argument("--net", default="connect_four", help="an agent's name")
    uncertain.add_argument("--draws", type=int, default=20, help=f"of {AT_ONCE} positions, a file for each")
    uncertain.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    solvers = Solvers(options.log_entries)
    if options.kind == "openings":
        solve_openings(solvers, options.folder, options.plies)
    else:
        solve_uncertain(solvers, options)


def ply_range(text: str) -> tuple[int, int]:
    """Reads e.g. 8-13; raises ValueError, which argparse tells."""
    fewest, most = map(int, text.split("-"))
    if not 0 <= fewest <= most < GAME.max_plies:
        raise ValueError
    return fewest, most


class Solvers:
    """A solver for each thread, all with one table."""

    def __init__(self, log_entries: int):
        first = ConnectFourSolver(GAME.rules, log_entries)
        self._free = [first, *(first.with_same_table() for _ in range(count_cores() - 1))]
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
                file.writelines(f"{line}\n" for line in lines)
                file.flush()

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
    target, unfinished = folder / f"plies_{plies}.txt", folder / f".plies_{plies}.txt"  # hidden files are not read
    if target.exists():
        return
    known = read_results(unfinished)
    left = [state for key, state in sorted(levels[plies].items()) if key not in known]
    solvers.solve_all(left, lambda solver, state: [line_of(state, solver.solve(state))], unfinished)
    known = read_results(unfinished)
    for ply in reversed(range(plies)):
        lines = []
        for key, state in levels[ply].items():
            results = {
                action: after.returns()[state.current_player()] if after.is_terminal() else -known[key_of(after)]
                for action, after in moves_of(state)
            }
            known[key] = int(max(results.values()))
            lines.append(line_of(state, known[key], results))
        write_whole(folder / f"plies_{ply}.txt", (HEADER + "\n".join(lines) + "\n").encode())
    unfinished.rename(target)


def read_results(path: Path) -> dict[tuple[int, int], int]:
    """Returns the results in a file, by the keys of the positions; begins the file where there is none.

    Of a call that was stopped there may be half a line at the end, which goes.
    """
    text = path.read_text() if path.exists() else HEADER
    whole = text[: text.rindex("\n") + 1]
    write_whole(path, whole.encode())
    lines = (line.split() for line in whole.splitlines() if not line.startswith("#"))
    return {key_of(GAME.state_from_moves(moves)): int(score) for moves, score, *_ in lines}


def solve_uncertain(solvers: Solvers, options: argparse.Namespace) -> None:
    """Draws positions and solves those that the net is unsure of, a file for each `AT_ONCE` that are drawn."""
    net = make_agent(options.net, GAME).net_alone
    if net is None:
        raise SystemExit(f"{options.net} has no net")
    fewest, most = options.plies
    for number in range(options.draws):
        target = options.folder / f"uncertain_{fewest}_{most}_{options.seed}_{number:04d}.txt"
        if target.exists():
            continue
        rng = np.random.default_rng([options.seed, number])
        states = list(draw_uncertain(net, fewest, most, rng))
        unfinished = target.with_name(f".{target.name}")
        unfinished.write_text(HEADER)
        solvers.solve_all(states, solve_moves, unfinished)
        unfinished.rename(target)


def draw_uncertain(net: Callable, fewest: int, most: int, rng: np.random.Generator) -> Iterator[State]:
    """Yields those of `AT_ONCE` random positions that are to be solved, the longest first."""
    states = [random_position(int(rng.integers(fewest, most + 1)), rng) for _ in range(AT_ONCE)]
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
