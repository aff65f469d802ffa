"""Positions for calibrating a runtime and for comparing it with fp32."""

import functools

import numpy as np

from azero.compiler.rng import derive_seed
from azero.games import Game

NUM_POSITIONS = 256
_POSITIONS_A_GAME = 8


@functools.cache
def sample_positions(game: Game) -> np.ndarray:
    """Returns the planes of positions from all stages of random games, [NUM_POSITIONS, C, H, W] float32.

    They are always the same, so that a calibration depends on the net only. A trained net's activations have the same
    ranges on them as on its own games; see docs/decisions/0006-runtimes.md.
    """
    chooser = np.random.default_rng(derive_seed(0, "calibration"))
    planes: list[np.ndarray] = []
    while len(planes) < NUM_POSITIONS:
        state, seen = game.new_initial_state(), []
        while not state.is_terminal():
            seen.append(state.clone())
            state.apply_action(int(chooser.choice(state.legal_actions())))
        chosen = chooser.permutation(len(seen))[:_POSITIONS_A_GAME]
        planes += [seen[ply].planes() for ply in chosen]
    return np.stack(planes[:NUM_POSITIONS])
