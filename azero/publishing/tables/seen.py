"""Positions of games played at random, and what the methods of the game say of them."""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from azero.compiler.plain import call, plain_python
from azero.games import Game, State, kernels

Json = dict[str, Any]


class Seen(NamedTuple):
    """A position, and what the game's methods say of it."""

    state: State
    player: int  # to move, by the rules, even if the game is over
    planes: np.ndarray  # [C * H * W] float32
    run: list[int]  # the last actions, all of the player to move
    picture: Json
    others: set[int]  # the cells with a piece that is not the player's own


def positions(game: Game, chance: random.Random, most: int) -> list[Seen]:
    """Returns positions of games played at random, to the end of the last one."""
    found = list[Seen]()
    while len(found) < most:
        found += _positions_of_game(game, chance)
    return found


def _positions_of_game(game: Game, chance: random.Random) -> Iterator[Seen]:
    state, movers = game.new_initial_state(), list[int]()
    while True:
        with plain_python():
            player = int(game.rules.current_player(state.record))
        others = [ply for ply, mover in enumerate(movers) if mover != player]
        run = state.history()[others[-1] + 1 if others else 0 :]
        planes = np.zeros(game.planes_shape, np.float32)
        call(kernels.encode, game.rules, state.record, planes)
        picture = game.picture(state).to_json()
        taken = {piece["cell"] for piece in picture["pieces"] if piece["player"] != player}
        yield Seen(state.clone(), player, planes.ravel(), run, picture, taken)
        if state.is_terminal():
            return
        movers.append(player)
        state.apply_action(chance.choice(state.legal_actions()))
