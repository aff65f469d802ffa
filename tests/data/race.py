"""A race over squares: a small game whose positions can be reached at several plies, without alternating turns."""

from typing import NamedTuple

import numpy as np

from azero.authoring import ONGOING, mix


class Race(NamedTuple):
    """A move advances by one, two or three squares. A hash of the square gives its mover or, at the end, the result."""

    length: int = 18
    seed: int = 0

    def reset(game, state):
        state.square = 0

    def legal_actions(game, state, out):
        for action in range(3):
            out[action] = action
        return 3

    def apply_action(game, state, action):
        state.square += action + 1

    def current_player(game, state):
        return np.int64(mix(np.uint64(1000 * game.seed + state.square)) & np.uint64(1))

    def outcome(game, state):
        if state.square < game.length:
            return ONGOING
        return np.int64(mix(np.uint64(1000 * game.seed + state.square)) % np.uint64(3)) - 1

    def encode(game, state, planes):
        for k in range(game.length):
            planes[0, 0, k] = k == state.square

    def hash_key(game, state):
        return mix(np.uint64(state.square))

    @property
    def state_dtype(game):
        return np.dtype([("square", np.int32)])

    @property
    def num_actions(game):
        return 3

    @property
    def max_plies(game):
        return game.length

    @property
    def planes_shape(game):
        return 1, 1, game.length
