"""Carry: a user's game whose picture has numbers, and whose moves are written otherwise in the second step."""

from typing import NamedTuple

import numpy as np

from azero.authoring import DRAW, LOSS, ONGOING, WIN, Picture, Piece, Player, mix, squares


class Carry(NamedTuple):
    """Take a seed from any pit, then drop it into one of your own side. After so many turns the fuller side wins."""

    turns: int = 8

    def reset(game, state):
        for pit in range(6):
            state.seeds[pit] = 3
        state.lifted = -1
        state.ply = 0

    def legal_actions(game, state, out):
        count = 0
        own = 3 * game.current_player(state)
        for pit in range(6):
            if state.seeds[pit] > 0 if state.lifted < 0 else own <= pit < own + 3:
                out[count] = pit
                count += 1
        return count

    def apply_action(game, state, action):
        if state.lifted < 0:
            state.seeds[action] -= 1
            state.lifted = action
        else:
            state.seeds[action] += 1
            state.lifted = -1
        state.ply += 1

    def current_player(game, state):
        return np.int64(state.ply // 2) % 2

    def outcome(game, state):
        if state.ply < 2 * game.turns:
            return ONGOING
        margin = 0
        for pit in range(3):
            margin += state.seeds[pit] - state.seeds[3 + pit]
        return DRAW if margin == 0 else WIN if margin > 0 else LOSS

    def encode(game, state, planes):
        player = game.current_player(state)
        for pit in range(6):
            at = (pit + 3 * player) % 6  # the own side comes first
            planes[0, at // 3, at % 3] = state.seeds[pit] / 9
            planes[1, at // 3, at % 3] = (1 if pit < 3 else -1) if pit == state.lifted else 0
            planes[2, at // 3, at % 3] = state.ply % 2

    def hash_key(game, state):
        key = mix(np.uint64(state.ply)) ^ np.uint64(state.lifted + 1)
        for pit in range(6):
            key = mix(key) ^ np.uint64(state.seeds[pit])
        return key

    state_dtype = np.dtype([("seeds", np.int16, (6,)), ("lifted", np.int16), ("ply", np.int32)], align=True)
    num_actions = 6
    max_plies = property(lambda game: 2 * game.turns)
    planes_shape = (3, 2, 3)

    def action_to_text(game, state, action):
        return "-+"[state.ply % 2] + "aBcDeF"[action]

    def picture(game, state, legal, history):
        lifted = [] if state.lifted < 0 else [Piece(int(state.lifted), int(state.lifted) // 3, "ring")]
        return Picture(
            squares(2, 3),
            (Player("North", "orange"), Player("South", "blue")),
            [*lifted, *(Piece(pit, None, "text", str(int(seeds))) for pit, seeds in enumerate(state.seeds) if seeds)],
            {action: (np.int8(action),) for action in legal},
            steps=("Take", "Drop"),
            step=int(state.ply) % 2,
            begun=() if state.lifted < 0 else (int(state.lifted),),
        )
