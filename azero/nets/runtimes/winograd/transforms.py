"""Winograd's transforms for a board: a side is split into runs of outputs, 7 = 4 + 3, which share points.

A convolution of a run of m outputs is a product of polynomials, computed by its values at m + 2 points [1]:

    y = A^T ((G g) * (B^T x)),   x [m + 2] inputs, g [3] weights, y [m] outputs, * for each point

In two dimensions each matrix is applied along both sides. Here every run takes the first m + 2 of the same points, so
all runs of a board share one set of transformed weights G g G^T. A board of 6 x 7, whose sides are 6 and 4 + 3, takes
88 products for each pair of channels. A direct convolution takes 378, and Winograd's usual tiles of 4 x 4 take 144.

Source:
  [1] Lavin and Gray, Fast algorithms for convolutional neural networks, CVPR 2016.
  [2] Barabasz et al., Error analysis and improving the accuracy of Winograd convolution for deep neural networks, 2020.
"""

from typing import NamedTuple

import numpy as np

from azero.nets.runtimes.winograd.kernels import MOST_OUTPUTS, NUM_POINTS, RUN_DTYPE

_INFINITY = 1
_POINTS = (0.0, np.inf, 1.0, -1.0, 2.0, -0.5, -2.0, 0.5)
"""A point at infinity stands for the highest coefficient of a polynomial.

With 2 and -1/2 the errors of a run of 4 are two thirds of those with 2 and -2 [2].
"""


class Side(NamedTuple):
    """A side of a board, split into runs.

    Attributes:
      runs: [runs] records of RUN_DTYPE, the longest first.
      sharing: [points of the longest run] int64, the number of runs that have each point. These are the first ones.
    """

    runs: np.ndarray
    sharing: np.ndarray


def split_side(size: int) -> Side:
    """Returns a side of `size` cells. Runs differ by at most 1 in length."""
    number = -(-size // MOST_OUTPUTS)
    runs, first = np.zeros(number, RUN_DTYPE), 0
    for place, run in enumerate(runs):
        run["outputs"] = size // number + (place < size % number)
        run["first"], run["reads"] = first, max(first - 1, 0)
        first += run["outputs"]
        run["num_reads"] = min(first + 1, size) - run["reads"]
        run["skipped"] = run["reads"] - (run["first"] - 1)
    return Side(runs, np.array([(runs["outputs"] + 2 > point).sum() for point in range(runs[0]["outputs"] + 2)]))


def all_matrices() -> np.ndarray:
    """Returns B^T [NUM_POINTS, NUM_POINTS] and A^T [NUM_POINTS, NUM_POINTS] of runs of 0 to MOST_OUTPUTS, one array.

    They are filled up with zeros: [MOST_OUTPUTS + 1, 2, NUM_POINTS, NUM_POINTS] float32.
    """
    matrices = np.zeros((MOST_OUTPUTS + 1, 2, NUM_POINTS, NUM_POINTS), np.float32)
    for outputs in range(1, MOST_OUTPUTS + 1):
        matrices[outputs, 0, : outputs + 2, : outputs + 2] = _into_points(outputs)
        matrices[outputs, 1, :outputs, : outputs + 2] = _from_points(outputs)
    return matrices


def transform_kernel(kernel: np.ndarray, points: tuple[int, int]) -> np.ndarray:
    """Returns G g G^T for weights [outputs, inputs, 3, 3], as [pairs, inputs, outputs] float64.

    Args:
      points: of the longest run of rows, and of columns.
    """
    outputs, inputs = kernel.shape[:2]
    taps = kernel.astype(np.float64).transpose(2, 3, 1, 0).reshape(9, inputs * outputs)
    return (kernel_matrix(points) @ taps).reshape(-1, inputs, outputs)


def kernel_matrix(points: tuple[int, int]) -> np.ndarray:
    """Returns what leads from the 9 weights of a kernel to those at all pairs of points, [pairs, 9] float64."""
    g = np.array([_powers(point, 3) / _scale(point, MOST_OUTPUTS) for point in range(NUM_POINTS)])
    return np.kron(g[: points[0]], g[: points[1]])


def _powers(point: int, number: int) -> np.ndarray:
    """Returns 1, p, p^2 and so on of a point p."""
    if point == _INFINITY:
        return np.eye(number)[-1]
    return _POINTS[point] ** np.arange(number)


def _others(point: int, outputs: int) -> list[float]:
    """Returns the other finite points of a run."""
    return [p for k, p in enumerate(_POINTS[: outputs + 2]) if k not in (_INFINITY, point)]


def _scale(point: int, outputs: int) -> float:
    """Returns the denominator of Lagrange's polynomial at a point."""
    return 1.0 if point == _INFINITY else float(np.prod([_POINTS[point] - p for p in _others(point, outputs)]))


def _into_points(outputs: int) -> np.ndarray:
    """Returns B^T [points, inputs]. What G is divided by for the longest run, it is multiplied by."""
    rows = np.zeros((outputs + 2, outputs + 2))
    for point in range(outputs + 2):
        polynomial = np.poly(_others(point, outputs))[::-1]  # the lowest coefficient first
        rows[point, : len(polynomial)] = polynomial * (_scale(point, MOST_OUTPUTS) / _scale(point, outputs))
    return rows


def _from_points(outputs: int) -> np.ndarray:
    """Returns A^T [outputs, points]."""
    return np.stack([_powers(point, outputs) for point in range(outputs + 2)], axis=1)
