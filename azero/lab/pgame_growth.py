"""Figure 5: how many iterations UCT needs in P-games, by depth and branching factor of the tree.

Alpha-beta needs on the order of B^(D/2) leaves. The question is whether the iterations of UCT grow as slowly. The
intervals of the exponents come from a bootstrap over trees.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.lab.experiment import Experiment, Results, Table
from azero.lab.trees import MEASURING, UCT, Unit, check_player, check_size, rates_by_tree, spaced
from azero.plots import Line, Panel, draw

BY_DEPTH = tuple((2, depth) for depth in range(4, 21, 2))  # branching, depth
BY_BRANCHING = tuple((branching, 8) for branching in range(2, 9))
FITTED_DEPTHS = ((4, 16), (4, 20))  # from, to; the second range is all depths
_RESAMPLES = 1000


class Parameters(NamedTuple):
    """Parameters of the experiment. The same seed gives the same rows."""

    trees: int
    runs: int  # per tree
    rates: tuple[float, ...]  # failure rates to reach
    patience: int  # most iterations, in units of B^(D/2)
    uct: str = UCT
    seed: int = 0


SMALL = Parameters(trees=1000, runs=2, rates=(0.1, 0.01), patience=16)
FULL = Parameters(trees=4000, runs=10, rates=(0.1, 0.01, 0.001), patience=64)

Shape = tuple[int, int]
Needed = dict[tuple[Shape, float], np.ndarray]
"""By shape and failure rate: the iterations needed, [1 + R], for the trees themselves and for R resamples of them."""


def check(parameters: Parameters) -> None:
    """Raises BadInput for wrong parameters."""
    check_size(trees=parameters.trees, runs=parameters.runs, patience=parameters.patience)
    check_player(parameters.uct)
    for rate in parameters.rates:
        if not 0.0 < rate < 1.0:
            raise BadInput(f"rate {rate:g} should be between 0 and 1")


def groups_of(parameters: Parameters) -> dict[Shape, list[Unit]]:
    """Returns the units by shape."""
    return {
        shape: [
            Unit(parameters.uct, *shape, tree, iterations_of(shape, parameters), parameters.runs, parameters.seed)
            for tree in range(parameters.trees)
        ]
        for shape in sorted({*BY_DEPTH, *BY_BRANCHING})
    }


def iterations_of(shape: Shape, parameters: Parameters) -> tuple[int, ...]:
    """Returns the numbers of iterations after which failures on trees of this shape are counted."""
    branching, depth = shape
    return spaced(round(parameters.patience * branching ** (depth / 2)), per_decade=10)


def needed_by(results: Results, groups: dict[Shape, list[Unit]], parameters: Parameters) -> Needed:
    """Returns the iterations needed, computed from the rows."""
    needed: Needed = {}
    for shape, units in groups.items():
        iterations = iterations_of(shape, parameters)
        samples = resampled(rates_by_tree(results, units), derive_seed(parameters.seed, "resample", *shape))
        for rate in parameters.rates:
            needed[shape, rate] = np.array([iterations_to_reach(rate, iterations, each) for each in samples])
    return needed


def iterations_to_reach(rate: float, iterations: Sequence[int], rates: Sequence[float]) -> float:
    """Returns after how many iterations the failure rate stays at `rate` or below; NaN if it does not.

    The value is interpolated between two measured points, on a straight line in the log-log plot. It is the last
    crossing of the rate; if runs are few, chance makes this too late.
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


def resampled(rates: np.ndarray, seed: int) -> np.ndarray:
    """Returns [1 + R, I] mean failure rates: of the T trees in `rates` [T, I], and of R resamples of the T trees."""
    rng = np.random.default_rng(seed)
    num_trees = len(rates)
    draws = (np.bincount(rng.integers(num_trees, size=num_trees), minlength=num_trees) for _ in range(_RESAMPLES))
    return np.array([rates.mean(axis=0), *(draw @ rates / num_trees for draw in draws)])


def slope(xs: Sequence[float], needed: np.ndarray) -> float:
    """Returns the slope of the straight line fitted to the logarithms of `needed` over xs; NaN without two points."""
    known = np.isfinite(needed)
    if known.sum() < 2:
        return float("nan")
    return float(np.polyfit(np.array(xs)[known], np.log(needed[known]), 1)[0])


def exponent(xs: Sequence[float], shapes: Sequence[Shape], rate: float, needed: Needed) -> tuple[float, float, float]:
    """Returns the slope over xs (one per shape) and its 95 % interval. Resamples without a slope are left out."""
    slopes = [slope(xs, sample) for sample in np.stack([needed[shape, rate] for shape in shapes], axis=1)]
    known = [each for each in slopes[1:] if np.isfinite(each)]
    low, high = np.percentile(known, [2.5, 97.5]) if known else (np.nan, np.nan)
    return slopes[0], float(low), float(high)


def report(results: Results, groups: dict[Shape, list[Unit]], parameters: Parameters) -> str:
    """Writes the table and the plot; returns the table."""
    rates, needed = parameters.rates, needed_by(results, groups, parameters)
    header = ["B", "D", "B^(D/2)", *(f"{rate:.1%} failures".replace("%", " %") for rate in rates)]
    rows = [
        [
            str(shape[0]),
            str(shape[1]),
            f"{shape[0] ** (shape[1] / 2):,.0f}",
            *(_count(needed[shape, r][0]) for r in rates),
        ]
        for shape in groups
    ]
    notes = [
        f"Iterations that UCT needs to reach a failure rate; {parameters.trees:,} trees x {parameters.runs:,} runs. "
        "They end at the last crossing of the rate; if runs are few, chance makes this too late. "
        "The 95 % intervals come from a bootstrap over trees.",
        *(_exponents(rate, needed) for rate in rates),
    ]
    draw(
        [
            _panel("B = 2", "depth D (plies)", BY_DEPTH, [shape[1] for shape in BY_DEPTH], False, needed, rates),
            _panel("D = 8", "branching B", BY_BRANCHING, [shape[0] for shape in BY_BRANCHING], True, needed, rates),
        ],
        results.folder / "plot.png",
    )
    return results.write_table(Table(header, rows, notes))


def _exponents(rate: float, needed: Needed) -> str:
    texts = []
    for lowest, highest in FITTED_DEPTHS:
        fitted = [shape for shape in BY_DEPTH if lowest <= shape[1] <= highest]
        ends = exponent([shape[1] * np.log(shape[0]) for shape in fitted], fitted, rate, needed)
        texts.append("B^({:.3f} D) [{:.3f}, {:.3f}]".format(*ends) + f" for D from {lowest} to {highest}")
    by_branching = exponent([np.log(shape[0]) for shape in BY_BRANCHING], BY_BRANCHING, rate, needed)
    return (
        f"At {rate:g}: for B = 2, {' and '.join(texts)} (alpha-beta: B^(0.5 D)); "
        + "for D = 8, B^{:.2f} [{:.2f}, {:.2f}] (alpha-beta: B^4).".format(*by_branching)
    )


def _panel(title, x_label, shapes, xs, is_x_log, needed, rates) -> Panel:
    lines = [
        Line(f"UCT, failure rate {rate:g}", xs, [_or_zero(needed[shape, rate][0]) for shape in shapes])
        for rate in rates
    ]
    lines.append(Line("$B^{D/2}$", xs, [shape[0] ** (shape[1] / 2) for shape in shapes], is_reference=True))
    return Panel(title, x_label, "iterations", lines, is_x_log=is_x_log, x_ticks=xs)


def _or_zero(number: float) -> float:
    return number if np.isfinite(number) else 0.0  # a logarithmic axis leaves out zero


def _count(number: float) -> str:
    return f"{number:,.0f}" if np.isfinite(number) else "not reached"


EXPERIMENT = Experiment("pgame-growth", SMALL, FULL, MEASURING, check, groups_of, report)
