"""A batch: leaves of several trees that wait for the evaluator, in arrays that are allocated once."""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.contract import Rules
from azero.games.state import new_states

WAITING_DTYPE = np.dtype([("leaves", np.int64), ("rows", np.int64)])


class Batch(NamedTuple):
    """Up to K leaves that wait for the evaluator.

    The evaluator gets one row of planes per leaf. With a cache, leaves with the same view share a row.
    """

    waiting: np.recarray  # [1] WAITING_DTYPE, the numbers of leaves and of rows
    tree: np.ndarray  # [K] int32, the leaf's tree
    depth: np.ndarray  # [K] int32
    path: np.ndarray  # [K, max_plies + 1] int32, nodes from the root (place 0) to the leaf (place depth)
    symmetry: np.ndarray  # [K] int32, the symmetry in which the evaluator sees the leaf
    row: np.ndarray  # [K] int32, the leaf's row of `planes`
    states: np.recarray  # [K] the game's state dtype
    legal: np.ndarray  # [K, A] int32, the leaf's legal actions
    num_legal: np.ndarray  # [K] int32, the number of these
    key: np.ndarray  # [K] uint64, the hash of each row, if there is a cache
    planes: np.ndarray  # [K, C, H, W] float32, one per row
    bits: np.ndarray  # [K, C * H * W] uint32, the same memory


def new_batch(rules: Rules, size: int) -> Batch:
    """Returns an empty batch with room for `size` leaves."""
    planes = np.zeros((size, *rules.planes_shape), np.float32)
    return Batch(
        waiting=np.zeros(1, WAITING_DTYPE).view(np.recarray),
        tree=np.zeros(size, np.int32),
        depth=np.zeros(size, np.int32),
        path=np.zeros((size, rules.max_plies + 1), np.int32),
        symmetry=np.zeros(size, np.int32),
        row=np.zeros(size, np.int32),
        states=new_states(rules, size),
        legal=np.zeros((size, rules.num_actions), np.int32),
        num_legal=np.zeros(size, np.int32),
        key=np.zeros(size, np.uint64),
        planes=planes,
        bits=planes.view(np.uint32).reshape(size, -1),
    )


@subroutine
def copy_numbers(source, target):
    """Copies an array to another of the same length. A slice assignment would check for overlap and allocate."""
    for place in range(len(source)):
        target[place] = source[place]
