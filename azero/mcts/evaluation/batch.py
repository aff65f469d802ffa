"""A batch: leaves of several trees on their way to the evaluator and back, in arrays that are made once."""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import subroutine
from azero.games.contract import Rules
from azero.games.state import new_states
from azero.mcts.proving.lookahead import Line, new_line

WAITING_DTYPE = np.dtype([("leaves", np.int64), ("rows", np.int64)])


class Batch(NamedTuple):
    """Up to K leaves on their way to the evaluator and back, and room to work in.

    The evaluator sees a row for each leaf; leaves that look the same to it may share one.
    """

    waiting: np.recarray  # [1] WAITING_DTYPE, how many leaves and rows there are
    tree: np.ndarray  # [K] int32, whose leaf it is
    depth: np.ndarray  # [K] int32
    path: np.ndarray  # [K, max_plies + 1] int32, nodes from the root (place 0) to the leaf (place depth)
    symmetry: np.ndarray  # [K] int32, the one in which the evaluator sees the leaf
    row: np.ndarray  # [K] int32, where it sees the leaf
    states: np.recarray  # [K + 2] the leaves' states, and two to work with
    key: np.ndarray  # [K] uint64, of each row: its hash, where there is a cache
    planes: np.ndarray  # [K + 1, C, H, W] float32, of each row; the last to work with
    bits: np.ndarray  # [K + 1, C * H * W] uint32, the same memory
    entries: np.ndarray  # [C * H * W] int32
    factors: np.ndarray  # [C * H * W] uint64
    legal: np.ndarray  # [A] int32
    weights: np.ndarray  # [A] float64, of legal actions where a rollout policy draws one
    rows: np.ndarray  # [H + 2] uint64, the board as `rollouts/features.py` has it
    line: Line  # that a look ahead follows


def new_batch(rules: Rules, size: int) -> Batch:
    """Returns room for `size` leaves."""
    planes = np.zeros((size + 1, *rules.planes_shape), np.float32)
    bits = planes.view(np.uint32).reshape(size + 1, -1)
    return Batch(
        waiting=np.zeros(1, WAITING_DTYPE).view(np.recarray),
        tree=np.zeros(size, np.int32),
        depth=np.zeros(size, np.int32),
        path=np.zeros((size, rules.max_plies + 1), np.int32),
        symmetry=np.zeros(size, np.int32),
        row=np.zeros(size, np.int32),
        states=new_states(rules, size + 2),
        key=np.zeros(size, np.uint64),
        planes=planes,
        bits=bits,
        entries=np.zeros(bits.shape[1], np.int32),
        factors=np.zeros(bits.shape[1], np.uint64),
        legal=np.zeros(rules.num_actions, np.int32),
        weights=np.zeros(rules.num_actions, np.float64),
        rows=np.zeros(rules.planes_shape[1] + 2, np.uint64),
        line=new_line(rules),
    )


@subroutine
def copy_numbers(source, target):
    """Copies an array to another of the same length; an assignment would look for overlaps, and allocate."""
    for place in range(len(source)):
        target[place] = source[place]
