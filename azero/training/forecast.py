"""How strong a net will be: what short runs on small boards have shown, carried over to other games and longer runs.

A Gaussian process [1] over the logarithm of work. Its covariance is a sum, and each part is something that runs share:
a trend in the logarithm of work, as power laws have it [2], a bend of the trend, what a game's rules and its board add,
and what a run adds by its seed. So a game like those on record has a narrow band, and a strange one a wide band. A run
under way narrows its own. Elo is in a pool where uct@1000 has 0, with 200 simulations for the net.

Sources:
  [1] Rasmussen, Williams, Gaussian Processes for Machine Learning (2006), chapter 2.
  [2] Jones, Scaling scaling laws with board games (2021); Neumann, Gros, Scaling laws for a multi-agent reinforcement
      learning model (2022).
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from azero.config.schema import Config
from azero.games import Game
from azero.system.files import PACKAGE
from azero.training.suited import Look

CURVES = PACKAGE / "data" / "curves.json"

_UNIT = 1000.0
"""Work is the logarithm to base 2 of 1 + samples / this, so that a net that has learned nothing has 0."""

_BEYOND, _WIDEST = 16.0, 350.0
"""The strength of a run is unknown if it learns from this many times the samples of those on record, or if its standard
deviation is wider.
"""

BAND = 1.2816
"""Standard deviations on each side that hold 80 % of a normal distribution."""


class Traits(NamedTuple):
    """What a run's strength is carried over by."""

    rules: str
    cells: float
    moves: float  # legal ones of a position
    plies: float  # of a random game
    weights: float  # parameters of the net
    simulations: float  # of a search in self-play


class Point(NamedTuple):
    """A net of a run: the samples it has learned from, the share of the run that is done, and its Elo, if known."""

    samples: float
    share: float
    elo: float = 0.0
    error: float = 0.0  # standard error of the Elo


class Curve(NamedTuple):
    """Standard deviations, in Elo, of a random curve over work: offset + trend * work + bend * smooth(work)."""

    offset: float
    trend: float  # for each doubling of work
    bend: float


class Scales(NamedTuple):
    """What the covariance is made of. Standard deviations are in Elo."""

    common: Curve  # what all runs share
    of_rules: Curve  # what runs of the same rules share besides
    of_board: Curve  # what runs of the same rules on near boards share besides
    of_run: float  # what is a run's own
    of_net: float  # for each doubling of the net's weights
    of_share: float  # from a run's beginning to its end
    length: float  # doublings of work after which bends are independent
    board_length: float  # doublings of cells, moves and plies after which boards are


def traits_of(config: Config, game: Game, look: Look, weights: int) -> Traits:
    """Returns the traits of a run, by what random games of its game are like."""
    cells = game.planes_shape[1] * game.planes_shape[2]
    rules = game.name.partition("(")[0]
    return Traits(rules, cells, look.moves, look.plies, weights, config.selfplay.num_simulations)


class Curves:
    """Runs whose nets were rated."""

    def __init__(self, runs: Sequence[tuple[Traits, Sequence[Point]]], scales: Scales):
        self.scales = scales
        self._runs = [(traits, point, number) for number, (traits, points) in enumerate(runs) for point in points]

    def forecast(self, traits: Traits, points: Sequence[Point], known: Sequence[Point] = ()) -> np.ndarray:
        """Returns the mean and standard deviation of the Elo of a run's nets, [N, 2] float64 [1, equations 2.25, 2.26].

        Args:
          points: where to look.
          known: nets of this run that were rated.
        """
        rows = [*self._runs, *((traits, point, -1) for point in known)]
        asked = [(traits, point, -1) for point in points]
        elo = np.array([point.elo for _, point, _ in rows])
        noise = np.array([point.error**2 for _, point, _ in rows])
        mean = elo.mean() if len(elo) else 0.0
        factor = np.linalg.cholesky(_covariance(rows, rows, self.scales) + np.diag(noise + 1.0))
        across = np.linalg.solve(factor, _covariance(rows, asked, self.scales))
        means = mean + across.T @ np.linalg.solve(factor, elo - mean)
        variances = np.diag(_covariance(asked, asked, self.scales)) - (across**2).sum(axis=0)
        return np.stack([means, np.sqrt(np.maximum(variances, 1.0))], axis=1)

    @property
    def strongest(self) -> float:
        """The Elo of the strongest net on record."""
        return max((point.elo for _, point, _ in self._runs), default=0.0)

    def reaches(self, traits: Traits, point: Point, deviation: float) -> bool:
        """Returns whether a forecast says anything: its band is narrow, and runs like this one learned long enough.

        Those are runs on boards of at least half of the cells.
        """
        longest = max((each.samples for own, each, _ in self._runs if own.cells >= traits.cells / 2), default=0.0)
        return point.samples <= _BEYOND * longest and deviation <= _WIDEST

    def likelihood(self) -> float:
        """Returns the logarithm of the marginal likelihood of the data under these scales [1, equation 2.30]."""
        elo = np.array([point.elo for _, point, _ in self._runs])
        noise = np.array([point.error**2 for _, point, _ in self._runs])
        factor = np.linalg.cholesky(_covariance(self._runs, self._runs, self.scales) + np.diag(noise + 1.0))
        white = np.linalg.solve(factor, elo - elo.mean())
        return float(-0.5 * white @ white - np.log(np.diag(factor)).sum())


_Row = tuple[Traits, Point, int]


def _covariance(one: Sequence[_Row], other: Sequence[_Row], scales: Scales) -> np.ndarray:
    """Returns the covariance of the Elo of nets, [len(one), len(other)] float64. A row's number is that of its run.

        k = common + [same rules] of_rules + [same rules] near(board) of_board
            + [same run] of_run^2 near(work) + of_net^2 net net' + of_share^2 share share'

    where each curve is offset^2 + trend^2 work work' + bend^2 near(work), and near is exp(-d^2 / 2 length^2).
    """
    (x, share, board, net, rules, run), (x2, share2, board2, net2, rules2, run2) = _columns(one), _columns(other)
    product = np.outer(x, x2)
    near = np.exp(-0.5 * ((x[:, None] - x2[None]) / scales.length) ** 2)
    distance = ((board[:, None] - board2[None]) ** 2).sum(axis=2)
    same_rules = rules[:, None] == rules2[None]
    same_board = same_rules * np.exp(-0.5 * distance / scales.board_length**2)

    def curve(each: Curve) -> np.ndarray:
        return each.offset**2 + each.trend**2 * product + each.bend**2 * near

    return (
        curve(scales.common)
        + same_rules * curve(scales.of_rules)
        + same_board * curve(scales.of_board)
        + (run[:, None] == run2[None]) * scales.of_run**2 * near
        + scales.of_net**2 * np.outer(net, net2)
        + scales.of_share**2 * np.outer(share, share2)
    )


def _columns(rows: Sequence[_Row]) -> tuple[np.ndarray, ...]:
    """Returns the logarithms of work, shares, boards, nets, rules and numbers of runs."""
    work = np.array([np.log2(1 + point.samples / _UNIT) for _, point, _ in rows])
    share = np.array([point.share for _, point, _ in rows])
    board = np.array([np.log2([each.cells, each.moves, each.plies]) for each, _, _ in rows]).reshape(len(rows), 3)
    net = np.array([np.log2(each.weights / 1e5) for each, _, _ in rows])
    return work, share, board, net, np.array([each.rules for each, _, _ in rows]), np.array([run for _, _, run in rows])


def run_of(entry: Mapping[str, Any]) -> tuple[Traits, list[Point]]:
    """Returns a run in the file of curves, as `Curves` takes it."""
    return Traits(**entry["traits"]), [Point(**point) for point in entry["points"]]


def scales_of(entry: Mapping[str, Any]) -> Scales:
    """Returns the scales in the file of curves."""
    return Scales(**{name: Curve(*value) if isinstance(value, list) else value for name, value in entry.items()})  # type: ignore[arg-type]


@cache
def known_curves() -> Curves:
    """Returns the curves on record."""
    entries = json.loads(CURVES.read_text(encoding="utf-8"))
    runs = [run_of(each) for each in entries["runs"].values() if not each["is_large"]]
    return Curves(runs, scales_of(entries["scales"]))
