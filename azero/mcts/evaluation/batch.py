"""A batch: leaves of several trees on their way to the evaluator and back, in arrays that are made once."""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.contract import Rules
from azero.games.state import new_states

WAITING_DTYPE = np.dtype([("leaves", np.int64), ("rows", np.int64)])


class Batch(NamedTuple):
    """Up to K leaves on their way to the evaluator and back.

    The evaluator sees a row for each leaf; leaves that look the same to it may share one.
    """

    waiting: np.recarray  # [1] WAITING_DTYPE, how many leaves and rows there are
    tree: np.ndarray  # [K] int32, whose leaf it is
    depth: np.ndarray  # [K] int32
    path: np.ndarray  # [K, max_plies + 1] int32, nodes from the root (place 0) to the leaf (place depth)
    symmetry: np.ndarray  # [K] int32, the one in which the evaluator sees the leaf
    row: np.ndarray  # [K] int32, where it sees the leaf
    states: np.recarray  # [K] the game's state dtype
    key: np.ndarray  # [K] uint64, of each row: its hash, where there is a cache
    planes: np.ndarray  # [K, C, H, W] float32, of each row
    bits: np.ndarray  # [K, C * H * W] uint32, the same memory


def new_batch(rules: Rules, size: int) -> Batch:
    """Returns room for `size` leaves."""
    planes = np.zeros((size, *rules.planes_shape), np.float32)
    return Batch(
        waiting=np.zeros(1, WAITING_DTYPE).view(np.recarray),
        tree=np.zeros(size, np.int32),
        depth=np.zeros(size, np.int32),
        path=np.zeros((size, rules.max_plies + 1), np.int32),
        symmetry=np.zeros(size, np.int32),
        row=np.zeros(size, np.int32),
        states=new_states(rules, size),
        key=np.zeros(size, np.uint64),
        planes=planes,
        bits=planes.view(np.uint32).reshape(size, -1),
    )


@subroutine
def copy_numbers(source, target):
    """Copies an array to another of the same length; an assignment would look for overlaps, and allocate."""
    for place in range(len(source)):
        target[place] = source[place]
