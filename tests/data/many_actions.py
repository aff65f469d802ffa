"""A game with as many actions as chess, 4,672, of which 40 are legal. Moves and results are random numbers."""

from typing import NamedTuple

import numpy as np

from azero.authoring import DRAW, LOSS, ONGOING, WIN, Places, mix

NUM_LEGAL = 40
PLANES = 73  # of actions, as in AlphaZero's chess
SPAN = PLANES * 64 // NUM_LEGAL  # one of so many consecutive actions is legal


class ManyActions(NamedTuple):
    """Each position is a random number. So are its legal actions, and the result after `plies` plies."""

    plies: int = 20

    def reset(game, state):
        state.key = np.uint64(1)
        state.ply = 0

    def legal_actions(game, state, out):
        for k in range(NUM_LEGAL):
            out[k] = k * SPAN + np.int64(mix(state.key + np.uint64(k)) % np.uint64(SPAN))
        return NUM_LEGAL

    def apply_action(game, state, action):
        state.key = mix(state.key ^ mix(np.uint64(action + 1)))
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.ply < game.plies:
            return ONGOING
        draw = np.int64(state.key % np.uint64(3))
        return WIN if draw == 0 else LOSS if draw == 1 else DRAW

    def encode(game, state, planes):
        for cell in range(64):
            planes[0, cell // 8, cell % 8] = (state.key >> np.uint64(cell)) & np.uint64(1)

    def hash_key(game, state):
        return mix(state.key + np.uint64(state.ply))

    def places(game):
        return Places(PLANES, 0, np.arange(game.num_actions, dtype=np.int32))

    @property
    def state_dtype(game):
        return np.dtype([("key", np.uint64), ("ply", np.int32)])

    @property
    def num_actions(game):
        return PLANES * 64

    @property
    def max_plies(game):
        return game.plies

    @property
    def planes_shape(game):
        return 1, 8, 8
