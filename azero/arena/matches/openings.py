"""Openings: short random lines, all different, so that a match is not one game over and over."""

import numpy as np

from azero.compiler.rng import derive_seed
from azero.games import Game, State

_TRIES = 50


def draw_openings(game: Game, num: int, plies: int, seed: int) -> list[State]:
    """Returns `num` positions after `plies` random moves or one fewer, none of them over, none twice if that can be.

    The two lengths let both players be the one who has to find the first move. Where a game has fewer positions at
    that depth, longer lines follow, and then repetitions.
    """
    rng = np.random.default_rng(derive_seed(seed, "openings"))
    openings: list[State] = []
    seen: set[int] = set()
    for number in range(num):
        for attempt in range(_TRIES):
            longer = attempt // (_TRIES // 3)
            opening = _random_line(game, max(0, plies - int(rng.integers(0, 2))) + longer if plies else 0, rng)
            if opening is not None and (opening.hash_key() not in seen or plies == 0):
                break
        openings.append(opening if opening is not None else game.new_initial_state())
        seen.add(openings[number].hash_key())
    return openings


def _random_line(game: Game, plies: int, rng: np.random.Generator) -> State | None:
    """Returns the position after random moves, or None where the game ended on the way."""
    state = game.new_initial_state()
    for _ in range(plies):
        state.apply_action(int(rng.choice(state.legal_actions())))
        if state.is_terminal():
            return None
    return state
