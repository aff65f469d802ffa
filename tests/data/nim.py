"""Nim with one heap: a user's game, in a file outside azero."""

from typing import NamedTuple

import numpy as np

from azero.authoring import LOSS, ONGOING, WIN


class Nim(NamedTuple):
    """Players take one to three from the heap. The player who takes the last one wins."""

    heap: int = 21

    def reset(game, state):
        state.left = game.heap
        state.ply = 0

    def legal_actions(game, state, out):
        count = min(3, state.left)
        for action in range(count):
            out[action] = action
        return count

    def apply_action(game, state, action):
        state.left -= action + 1
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.left > 0:
            return ONGOING
        return WIN if state.ply & 1 else LOSS

    def encode(game, state, planes):
        for k in range(game.heap):
            planes[0, 0, k] = k < state.left

    def hash_key(game, state):
        return np.uint64(2 * state.left + (state.ply & 1))

    @property
    def state_dtype(game):
        return np.dtype([("left", np.int32), ("ply", np.int32)])

    @property
    def num_actions(game):
        return 3

    @property
    def max_plies(game):
        return game.heap

    @property
    def planes_shape(game):
        return 1, 1, game.heap
