"""Figure 4: how often a search that is stopped early plays a wrong move in a P-game.

UCT against plain Monte Carlo (MC), the same with minimax values (MMMC), and alpha-beta, which picks at random until its
full search has ended; an iteration is a leaf of the tree looked at.
"""

from pathlib import Path
from typing import NamedTuple

from azero.lab.plots import Line, Panel, draw
from azero.lab.results import Results, Table
from azero.lab.trees import (
    ALPHA_BETA,
    KEY,
    UCT,
    Unit,
    check_player,
    check_size,
    measure_tree,
    percent,
    rates_of,
    shown,
    spaced,
)  # fmt: skip

NAME = "pgame-failure"
SHAPES = ((2, 20), (8, 8))  # branching, depth


class Parameters(NamedTuple):
    """What is to be run; with the same seed, the same rows."""

    trees: int
    runs: int  # on each of the trees
    iterations: int
    uct: str = UCT
    seed: int = 0


SMALL = Parameters(trees=200, runs=5, iterations=100_000)
FULL = Parameters(trees=200, runs=200, iterations=100_000)


def run(folder: Path, parameters: Parameters, num_workers: int) -> str:
    """Runs the experiment, or what is left of it; returns its table."""
    check_size(trees=parameters.trees, runs=parameters.runs, iterations=parameters.iterations)
    check_player(parameters.uct)
    iterations = spaced(parameters.iterations)
    results = Results(folder, NAME, parameters._asdict(), KEY, [str(each) for each in iterations])
    groups = {
        (label, shape): [
            Unit(player, *shape, tree, iterations, parameters.runs, parameters.seed) for tree in range(parameters.trees)
        ]
        for shape in SHAPES
        for label, player in players(parameters)
    }
    results.complete(measure_tree, [unit for units in groups.values() for unit in units], num_workers, NAME)
    return report(results, groups, iterations, parameters)


def players(parameters: Parameters) -> list[tuple[str, str]]:
    """Returns who is measured: label and name."""
    return [("alpha-beta", ALPHA_BETA), ("MC", "mc"), ("MMMC", "mmmc"), ("UCT", parameters.uct)]


def report(results: Results, groups: dict, iterations: tuple[int, ...], parameters: Parameters) -> str:
    """Writes table and plot; returns the table."""
    labels = [label for label, _ in players(parameters)]
    rates = {key: rates_of(results, units) for key, units in groups.items()}
    rows = [
        [str(shape[0]), str(shape[1]), f"{iterations[k]:,}"]
        + [percent(rates[label, shape][0][k], rates[label, shape][1][k]) for label in labels]
        for shape in SHAPES
        for k in shown(iterations)
    ]
    note = f"Failures in %, with 95 % intervals: {parameters.trees:,} trees x {parameters.runs:,} runs."
    panels = [
        Panel(
            f"B = {branching}, D = {depth}",
            "iterations",
            "failure rate",
            [Line(label, iterations, *rates[label, (branching, depth)]) for label in labels],
            y_range=(0.5 / (parameters.trees * parameters.runs), 1.0),
        )
        for branching, depth in SHAPES
    ]
    draw(panels, results.folder / "plot.png")
    return results.write_table(Table(["B", "D", "iterations", *labels], rows, [note]))
