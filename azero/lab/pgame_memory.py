"""Figure 6: UCT in P-games with a transposition table in place of the tree, of fewer and fewer entries."""

from typing import NamedTuple

from azero.arena.options import split_options
from azero.errors import BadInput
from azero.lab.experiment import Experiment, Groups
from azero.lab.plots import Line, Panel, draw
from azero.lab.results import Results, Table
from azero.lab.trees import MEASURING, UCT, Unit, check_player, check_size, percent, rates_of, shown, spaced
from azero.mcts.table import FEWEST_ENTRIES, MOST_ENTRIES

BRANCHING, DEPTH = 2, 20


class Parameters(NamedTuple):
    """What is to be run; with the same seed, the same rows."""

    trees: int
    runs: int  # on each of the trees
    iterations: int
    entries: tuple[int, ...] = (100_000, 10_000, 5_000, 1_000)
    uct: str = UCT
    seed: int = 0


SMALL = Parameters(trees=200, runs=1, iterations=100_000)
FULL = Parameters(trees=200, runs=200, iterations=100_000)


def check(parameters: Parameters) -> None:
    """Raises BadInput for parameters that will not do."""
    check_size(trees=parameters.trees, runs=parameters.runs, iterations=parameters.iterations)
    check_player(parameters.uct)
    if "table" in split_options(parameters.uct)[1]:
        raise BadInput(f"--uct {parameters.uct!r} should have no table: the sizes of tables are given by --entries")
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
    """Returns who is measured: label and name."""
    tables = [(f"{entries:,} entries", with_table(parameters.uct, entries)) for entries in parameters.entries]
    return [("whole tree", parameters.uct), *tables]


def with_table(uct: str, entries: int) -> str:
    """Returns UCT's name with one option more."""
    word, options = split_options(uct)
    return f"{word}({','.join(f'{key}={value}' for key, value in {**options, 'table': entries}.items())})"


def report(results: Results, groups: Groups, parameters: Parameters) -> str:
    """Writes table and plot; returns the table."""
    iterations = spaced(parameters.iterations)
    rates = {label: rates_of(results, units) for label, units in groups.items()}
    rows = [
        [f"{iterations[k]:,}", *(percent(mean[k], intervals[k]) for mean, intervals in rates.values())]
        for k in shown(iterations)
    ]
    note = (
        f"Failures in %, with 95 % intervals, B = {BRANCHING}, D = {DEPTH}: "
        f"{parameters.trees:,} trees x {parameters.runs:,} runs."
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
