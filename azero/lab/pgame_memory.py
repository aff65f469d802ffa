"""Figure 6: UCT in P-games with a transposition table instead of the tree, in several sizes.

If a table cannot store all moves of a position, UCT moves at random there: the first of the two solutions in section
2.2 of the paper. The smallest table is also measured with the second: UCT takes a stored move with a value above a
threshold, if there is one.
"""

from typing import NamedTuple

from azero.arena.agents.names import split_options, with_options
from azero.errors import BadInput
from azero.lab.experiment import Experiment, Groups, Results, Table
from azero.lab.trees import MEASURING, UCT, Unit, check_player, check_size, percent, rates_of, shown, spaced
from azero.mcts.classical.table import FEWEST_ENTRIES, MOST_ENTRIES
from azero.plots import Line, Panel, draw

BRANCHING, DEPTH = 2, 20
THRESHOLD = 0
"""Threshold of a stored move's value, in [-1, 1]. It is 1/2 in the paper's [0, 1]. The paper names no threshold."""


class Parameters(NamedTuple):
    """Parameters of the experiment. The same seed gives the same rows."""

    trees: int
    runs: int  # per tree
    iterations: int
    entries: tuple[int, ...] = (100_000, 10_000, 5_000, 1_000)
    uct: str = UCT
    seed: int = 0


SMALL = Parameters(trees=200, runs=1, iterations=100_000)
FULL = Parameters(trees=200, runs=200, iterations=100_000)


def check(parameters: Parameters) -> None:
    """Raises BadInput for wrong parameters."""
    check_size(trees=parameters.trees, runs=parameters.runs, iterations=parameters.iterations)
    for option in ("table", "stored_visits", "stored_value"):
        if option in split_options(parameters.uct)[1]:
            raise BadInput(f"--uct {parameters.uct!r} should have no {option}: --entries sets the tables")
    check_player(parameters.uct)
    for entries in parameters.entries:
        if not FEWEST_ENTRIES <= entries <= MOST_ENTRIES:
            raise BadInput(f"--entries {entries} should be from {FEWEST_ENTRIES} to {MOST_ENTRIES:,}")


def groups_of(parameters: Parameters) -> Groups:
    """Returns the units by player's label."""
    iterations = spaced(parameters.iterations)
    return {
        label: [
            Unit(player, BRANCHING, DEPTH, tree, iterations, parameters.runs, parameters.seed)
            for tree in range(parameters.trees)
        ]
        for label, player in players(parameters)
    }


def players(parameters: Parameters) -> list[tuple[str, str]]:
    """Returns the measured players: label and name of each."""
    uct, fewest = parameters.uct, min(parameters.entries)
    tables = [(f"{entries:,} entries", with_options(uct, table=entries)) for entries in parameters.entries]
    stored = f"{fewest:,} entries, stored moves", with_options(uct, table=fewest, stored_value=THRESHOLD)
    return [("whole tree", uct), *tables, stored]


def report(results: Results, groups: Groups, parameters: Parameters) -> str:
    """Writes the table and the plot; returns the table."""
    iterations = spaced(parameters.iterations)
    rates = {label: rates_of(results, units) for label, units in groups.items()}
    rows = [
        [f"{iterations[k]:,}", *(percent(mean[k], intervals[k]) for mean, intervals in rates.values())]
        for k in shown(iterations)
    ]
    note = (
        f"Failures in %, with 95 % intervals, B = {BRANCHING}, D = {DEPTH}: "
        f"{parameters.trees:,} trees x {parameters.runs:,} runs. If a table cannot store all moves of a position, the "
        f"move is random; in the last column it is a stored move with a value above {THRESHOLD}, if there is one."
    )
    panel = Panel(
        f"B = {BRANCHING}, D = {DEPTH}",
        "iterations",
        "failure rate",
        [Line(label, iterations, *each) for label, each in rates.items()],
        y_range=(0.5 / (parameters.trees * parameters.runs), 1.0),
    )
    draw([panel], results.folder / "plot.png")
    return results.write_table(Table(["iterations", *rates], rows, [note]))


EXPERIMENT = Experiment("pgame-memory", SMALL, FULL, MEASURING, check, groups_of, report)
