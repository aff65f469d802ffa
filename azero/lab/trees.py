"""Measures searches on P-games: how often a search plays a wrong move of a random tree after some iterations."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from azero.arena.agents.classical import search_maker
from azero.arena.agents.names import split_options
from azero.arena.matches.statistics import score_interval
from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.exact.solver import solve
from azero.games import Game, make_game
from azero.lab.experiment import Results, Work

UCT = "uct(cp=0.707,prove=false)"
"""UCB1 with the bias of the paper's proofs, 2 C_p sqrt(ln t / s) with C_p = 1 / sqrt 2.

The paper's experiments (section 3) used the bias (ln t / s)^((D + d) / (2 D + d)): `uct(bias=depth,prove=false)`.
"""

ALPHA_BETA = "alpha-beta"

KEY = ("player", "branching", "depth", "tree")
MOST = 1_000_000
"""Most trees, runs and iterations."""


class Unit(NamedTuple):
    """Runs of one player on one tree. With the same seed all players get the same trees."""

    player: str  # an agent's name without a limit, or ALPHA_BETA
    branching: int
    depth: int
    tree: int
    iterations: tuple[int, ...]  # numbers of iterations after which a move is chosen
    num_runs: int
    seed: int


def measure_tree(unit: Unit) -> dict[str, float]:
    """Returns the failure rate after each of the unit's numbers of iterations."""
    rates = _rates_on_tree(unit)
    return {str(iterations): rate for iterations, rate in zip(unit.iterations, rates, strict=True)}


def columns_of(units: Sequence[Unit]) -> list[str]:
    """Returns the columns of a row: all numbers of iterations after which a move is chosen."""
    return [str(each) for each in sorted({each for unit in units for each in unit.iterations})]


MEASURING = Work(KEY, columns_of, lambda units: measure_tree)


def _rates_on_tree(unit: Unit) -> list[float]:
    tree_seed = derive_seed(unit.seed, "tree", unit.branching, unit.depth, unit.tree) % 1_000_000_000
    game = make_game(f"p_game(branching={unit.branching},depth={unit.depth},seed={tree_seed})")
    wrong = wrong_moves(game)
    if unit.player == ALPHA_BETA:
        leaves = solve(game.new_initial_state(), max_table_entries=0).num_leaves
        return [0.0 if leaves <= iterations else float(wrong.mean()) for iterations in unit.iterations]
    if not wrong.any():
        return [0.0] * len(unit.iterations)
    return failure_rates(game, wrong, unit)


def wrong_moves(game: Game) -> np.ndarray:
    """Returns [A] bool: whether a move of the root has a worse result (win, draw or loss) than the best move."""
    values = np.zeros(game.num_actions)
    for action in range(game.num_actions):
        state = game.new_initial_state()
        state.apply_action(action)
        values[action] = solve(state, max_table_entries=0).value
    return values < values.max()


def failure_rates(game: Game, wrong: np.ndarray, unit: Unit) -> list[float]:
    """Returns the share of runs that choose a wrong move, after each of the unit's numbers of iterations.

    A run is one search, which continues from each number of iterations to the next.
    """
    search = search_maker(unit.player, game)(1, (unit.iterations[-1] + 1) * unit.branching + 1)
    failures = np.zeros(len(unit.iterations))
    for run in range(unit.num_runs):
        search.start(0, game.new_initial_state(), derive_seed(unit.seed, unit.branching, unit.depth, unit.tree, run))
        done = 0
        for k, iterations in enumerate(unit.iterations):
            search.run([0], iterations - done)
            failures[k] += wrong[search.choose(0)]
            done = iterations
    return (failures / unit.num_runs).tolist()


def rates_by_tree(results: Results, units: Sequence[Unit]) -> np.ndarray:
    """Returns [T, I]: the failure rates on the T trees of the units, after the I numbers of iterations."""
    rows = [results.row(unit) for unit in units]
    return np.array([[row[str(iterations)] for iterations in units[0].iterations] for row in rows])


def rates_of(results: Results, units: Sequence[Unit]) -> tuple[list[float], list[tuple[float, float]]]:
    """Returns the mean failure rates over trees, for each number of iterations, and their 95 % intervals.

    The intervals count trees, because runs on the same tree are dependent.
    """
    rates = rates_by_tree(results, units)
    return rates.mean(axis=0).tolist(), [score_interval(column) for column in rates.T]


def spaced(last: int, per_decade: int = 3) -> tuple[int, ...]:
    """Returns numbers of iterations from 1 to `last`, `per_decade` per factor of ten, rounded: 1, 2, 5, 10 for 3."""
    if per_decade == 3:
        steps = [digit * 10**power for power in range(12) for digit in (1, 2, 5)]
    else:
        steps = [round(float(f"{10 ** (k / per_decade):.2g}")) for k in range(12 * per_decade)]
    return tuple(sorted({step for step in steps if step < last} | {last}))


def shown(iterations: Sequence[int]) -> list[int]:
    """Returns the indices of the iterations in tables: the powers of ten, and the last."""
    last = len(iterations) - 1
    return [k for k, each in enumerate(iterations) if str(each).strip("0") == "1" or k == last]


def percent(rate: float, interval: tuple[float, float]) -> str:
    """Returns a rate with its interval in percent, for tables."""
    return f"{100 * rate:.1f} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def check_player(name: str) -> None:
    """Raises BadInput if a name is not `uct`, with or without options."""
    if split_options(name)[0] != "uct":
        raise BadInput(f"--uct {name!r} should be uct, with or without options, without a limit: e.g. {UCT!r}")
    search_maker(name, make_game("p_game"))(1, 100)


def check_size(**numbers: int) -> None:
    """Raises BadInput for a number of trees, runs or iterations that is not from 1 to a million."""
    for name, number in numbers.items():
        if not 1 <= number <= MOST:
            raise BadInput(f"{name} = {number} should be from 1 to {MOST:,}")
