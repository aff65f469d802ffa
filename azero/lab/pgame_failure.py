"""Figure 4: how often a search plays a wrong move in a P-game after a number of iterations.

It compares UCT, plain Monte Carlo (MC), MC with minimax values (MMMC), and alpha-beta. Alpha-beta picks at random until
its full search has ended. An iteration is one evaluated leaf. MMMC keeps whole episodes, as in the paper.
"""

from typing import NamedTuple

from azero.lab.experiment import Experiment, Groups, Results, Table
from azero.lab.trees import ALPHA_BETA, MEASURING, UCT, Unit, check_player, check_size, percent, rates_of, shown, spaced
from azero.plots import Line, Panel, draw

SHAPES = ((2, 20), (8, 8))  # branching, depth


class Parameters(NamedTuple):
    """Parameters of the experiment. The same seed gives the same rows."""

    trees: int
    runs: int  # per tree
    iterations: int
    uct: str = UCT
    seed: int = 0


SMALL = Parameters(trees=200, runs=5, iterations=100_000)
FULL = Parameters(trees=200, runs=200, iterations=100_000)


def check(parameters: Parameters) -> None:
    """Raises BadInput for wrong parameters."""
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
    """Returns the measured players: label and name of each."""
    return [("alpha-beta", ALPHA_BETA), ("MC", "mc"), ("MMMC", "mmmc(keep=episode)"), ("UCT", parameters.uct)]


def report(results: Results, groups: Groups, parameters: Parameters) -> str:
    """Writes the table and the plot; returns the table."""
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
