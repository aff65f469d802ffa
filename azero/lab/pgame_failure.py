"""Figure 4: how often a search that is stopped early plays a wrong move in a P-game.

UCT against plain Monte Carlo (MC), the same with minimax values (MMMC), and alpha-beta, which picks at random until its
full search has ended; an iteration is a leaf of the tree looked at. MMMC keeps whole episodes, as the paper's does.
"""

from typing import NamedTuple

from azero.lab.experiment import Experiment, Groups
from azero.lab.plots import Line, Panel, draw
from azero.lab.results import Results, Table
from azero.lab.trees import ALPHA_BETA, MEASURING, UCT, Unit, check_player, check_size, percent, rates_of, shown, spaced

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


def check(parameters: Parameters) -> None:
    """Raises BadInput for parameters that will not do."""
    check_size(trees=parameters.trees, runs=parameters.runs, iterations=parameters.iterations)
    check_player(parameters.uct)


def groups_of(parameters: Parameters) -> Groups:
    """Returns the units by player's label and shape."""
    iterations = spaced(parameters.iterations)
    return {
        (label, shape): [
            Unit(player, *shape, tree, iterations, parameters.runs, parameters.seed) for tree in range(parameters.trees)
        ]
        for shape in SHAPES
        for label, player in players(parameters)
    }


def players(parameters: Parameters) -> list[tuple[str, str]]:
    """Returns who is measured: label and name."""
    return [("alpha-beta", ALPHA_BETA), ("MC", "mc"), ("MMMC", "mmmc(keep=episode)"), ("UCT", parameters.uct)]


def report(results: Results, groups: Groups, parameters: Parameters) -> str:
    """Writes table and plot; returns the table."""
    iterations = spaced(parameters.iterations)
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


EXPERIMENT = Experiment("pgame-failure", SMALL, FULL, MEASURING, check, groups_of, report)
