"""Scratch memory for the kernels of one thread: arrays that are allocated once."""

from typing import NamedTuple

import numpy as np

from azero.games.contract import Rules
from azero.games.state import new_states
from azero.mcts.proving.lookahead import Line, new_line


class Scratch(NamedTuple):
    """Scratch memory. Only a simulation's path and position outlive the call of a subroutine."""

    states: np.recarray  # [3] the game's state dtype: a simulation's position, and two to try moves in
    path: np.ndarray  # [max_plies + 1] int32, nodes from the root (place 0) to the leaf
    legal: np.ndarray  # [A] int32
    weights: np.ndarray  # [A] float64, of legal actions
    logits: np.ndarray  # [A] float32, an answer from the cache
    counts: np.ndarray  # [A] uint16, a policy target
    planes: np.ndarray  # [C, H, W] float32
    bits: np.ndarray  # [C * H * W] uint32, the same memory
    entries: np.ndarray  # [C * H * W] int32
    factors: np.ndarray  # [C * H * W] uint64
    rows: np.ndarray  # [H + 2] uint64, the board as `rollouts/features.py` encodes it
    line: Line  # of a look-ahead


def new_scratch(rules: Rules) -> Scratch:
    """Returns the scratch memory of one thread."""
    planes = np.zeros(rules.planes_shape, np.float32)
    return Scratch(
        states=new_states(rules, 3),
        path=np.zeros(rules.max_plies + 1, np.int32),
        legal=np.zeros(rules.num_actions, np.int32),
        weights=np.zeros(rules.num_actions, np.float64),
        logits=np.zeros(rules.num_actions, np.float32),
        counts=np.zeros(rules.num_actions, np.uint16),
        planes=planes,
        bits=planes.view(np.uint32).reshape(-1),
        entries=np.zeros(planes.size, np.int32),
        factors=np.zeros(planes.size, np.uint64),
        rows=np.zeros(rules.planes_shape[1] + 2, np.uint64),
        line=new_line(rules),
    )
