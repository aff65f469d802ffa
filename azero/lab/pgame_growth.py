"""Figure 5: how many iterations UCT needs in P-games, by the depth of the tree and by its branching.

Alpha-beta needs of the order of B^(D/2) leaves; the question is whether UCT, too, grows no faster.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from azero.errors import BadInput
from azero.lab.plots import Line, Panel, draw
from azero.lab.results import Results, Table
from azero.lab.trees import KEY, UCT, Unit, check_player, check_size, measure_tree, rates_of, spaced

NAME = "pgame-growth"
BY_DEPTH = tuple((2, depth) for depth in range(4, 21, 2))  # branching, depth
BY_BRANCHING = tuple((branching, 8) for branching in range(2, 9))
FITTED_DEPTHS = (4, 16)


class Parameters(NamedTuple):
    """What is to be run; with the same seed, the same rows."""

    trees: int
    runs: int  # on each of the trees
    rates: tuple[float, ...]  # failure rates to reach
    patience: int  # iterations at most, in units of B^(D/2)
    uct: str = UCT
    seed: int = 0


SMALL = Parameters(trees=1000, runs=2, rates=(0.1, 0.01), patience=16)
FULL = Parameters(trees=4000, runs=10, rates=(0.1, 0.01, 0.001), patience=64)

Shape = tuple[int, int]


def run(folder: Path, parameters: Parameters, num_workers: int) -> str:
    """Runs the experiment, or what is left of it; returns its table."""
    check_size(trees=parameters.trees, runs=parameters.runs, patience=parameters.patience)
    check_player(parameters.uct)
    for rate in parameters.rates:
        if not 0.0 < rate < 1.0:
            raise BadInput(f"a rate of {rate:g} should be between 0 and 1")
    shapes = sorted({*BY_DEPTH, *BY_BRANCHING})
    iterations = {shape: spaced(most_iterations(shape, parameters.patience), per_decade=10) for shape in shapes}
    columns = sorted({each for some in iterations.values() for each in some})
    results = Results(folder, NAME, parameters._asdict(), KEY, [str(each) for each in columns])
    groups = {
        shape: [
            Unit(parameters.uct, *shape, tree, iterations[shape], parameters.runs, parameters.seed)
            for tree in range(parameters.trees)
        ]
        for shape in shapes
    }
    results.complete(measure_tree, [unit for units in groups.values() for unit in units], num_workers, NAME)
    needed = {
        (shape, rate): iterations_to_reach(rate, iterations[shape], rates_of(results, units)[0])
        for shape, units in groups.items()
        for rate in parameters.rates
    }
    return report(results, needed, shapes, parameters)


def most_iterations(shape: Shape, patience: int) -> int:
    """Returns how long the runs on trees of a shape are."""
    branching, depth = shape
    return round(patience * branching ** (depth / 2))


def iterations_to_reach(rate: float, iterations: Sequence[int], rates: Sequence[float]) -> float:
    """Returns after how many iterations the failure rate stays at `rate` or below; NaN where it does not get there.

    Between two that were measured it is read off the straight line in the log-log plot.
    """
    above = np.flatnonzero(np.array(rates) > rate)
    if len(above) == 0:
        return float(iterations[0])
    last = int(above[-1])
    if last + 1 == len(iterations):
        return float("nan")
    if rates[last + 1] == 0.0:
        return float(iterations[last + 1])
    share = np.log(rates[last] / rate) / np.log(rates[last] / rates[last + 1])
    return float(np.exp((1 - share) * np.log(iterations[last]) + share * np.log(iterations[last + 1])))


def slope(xs: list[float], needed: list[float]) -> float:
    """Returns the slope of the straight line through the logarithms of `needed` over xs; NaN without two points."""
    known = np.isfinite(needed)
    if known.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.array(xs)[known], np.log(np.array(needed)[known]), 1)[0])


def report(
    results: Results, needed: dict[tuple[Shape, float], float], shapes: list[Shape], parameters: Parameters
) -> str:
    """Writes table and plot; returns the table."""
    rates = parameters.rates
    header = ["B", "D", "B^(D/2)", *(f"{rate:.1%} failures".replace("%", " %") for rate in rates)]
    rows = [
        [str(shape[0]), str(shape[1]), f"{shape[0] ** (shape[1] / 2):,.0f}", *(_count(needed[shape, r]) for r in rates)]
        for shape in shapes
    ]
    lowest, highest = FITTED_DEPTHS
    fitted = [shape for shape in BY_DEPTH if lowest <= shape[1] <= highest]
    notes = [f"Iterations of UCT until it fails no more often; {parameters.trees:,} trees x {parameters.runs:,} runs."]
    for rate in rates:
        depth_slope = slope([shape[1] for shape in fitted], [needed[shape, rate] for shape in fitted]) / np.log(2)
        branching_slope = slope([np.log(shape[0]) for shape in BY_BRANCHING], [needed[s, rate] for s in BY_BRANCHING])
        notes.append(
            f"At {rate:g}: B^({depth_slope:.3f} D) for B = 2 and D from {lowest} to {highest}, where alpha-beta has "
            f"B^(0.5 D); B^{branching_slope:.2f} for D = 8, where it has B^4."
        )
    draw(
        [
            _panel("B = 2", "depth D (plies)", BY_DEPTH, [shape[1] for shape in BY_DEPTH], False, needed, rates),
            _panel("D = 8", "branching B", BY_BRANCHING, [shape[0] for shape in BY_BRANCHING], True, needed, rates),
        ],
        results.folder / "plot.png",
    )
    return results.write_table(Table(header, rows, notes))


def _panel(title, x_label, shapes, xs, is_x_log, needed, rates) -> Panel:
    lines = [
        Line(f"UCT, failure rate {rate:g}", xs, [_or_zero(needed[shape, rate]) for shape in shapes]) for rate in rates
    ]
    lines.append(Line("$B^{D/2}$", xs, [shape[0] ** (shape[1] / 2) for shape in shapes], is_reference=True))
    return Panel(title, x_label, "iterations", lines, is_x_log=is_x_log, x_ticks=xs)


def _or_zero(number: float) -> float:
    return number if np.isfinite(number) else 0.0  # which a logarithmic axis leaves out


def _count(number: float) -> str:
    return f"{number:,.0f}" if np.isfinite(number) else "not reached"
