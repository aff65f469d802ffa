"""P-games: the random trees of the UCT paper. No tree is stored: a move's value is computed from the path to it."""

import re
from typing import NamedTuple

import numpy as np

from azero.compiler.rng import mix
from azero.errors import BadInput
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Ranges, sign_of
from azero.games.p_game.branches import draw_tree, path_of, value_of
from azero.games.pictures import Picture
from azero.games.registry import game

STATE_DTYPE = np.dtype([("path", np.uint64), ("total", np.int32), ("ply", np.int32)], align=True)

HIGHEST_VALUE = 127


@game("p_game")
class PGame(NamedTuple):
    """A random tree: each move has a value from 0 to 127, which the first player adds and the second subtracts.

    After `depth` plies the first player wins if the sum is positive, and loses if it is negative. A sum of 0 is a draw.
    Every node has `branching` moves, written 0, 1, ... Each `seed` gives another tree.

    Source: Kocsis & Szepesvari, Bandit based Monte-Carlo planning (2006), section 3.1, after Smith & Nau (1994).
    """

    branching: int = 2
    depth: int = 20
    seed: int = 0

    def reset(game, state):
        # The inverted seed differs from the word of every action. Otherwise two seeds could share a subtree.
        state.path = mix(~np.uint64(game.seed))
        state.total = 0
        state.ply = 0

    def legal_actions(game, state, out):
        for action in range(game.branching):
            out[action] = action
        return game.branching

    def apply_action(game, state, action):
        state.path = path_of(state.path, action)
        value = np.int32(state.path >> 57)
        state.total += value if state.ply & 1 == 0 else -value
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.ply < game.depth:
            return ONGOING
        return WIN if state.total > 0 else LOSS if state.total < 0 else DRAW

    def final_score(game, state):
        """Returns the values of the first player's moves minus those of the second player's moves."""
        return float(state.total)

    def encode(game, state, planes):
        """Planes: the sum so far from the mover's point of view, the share of plies played, the value of each move.

        The sum and the values are divided by 127.
        """
        sign = sign_of(state.ply & 1)
        for action in range(game.branching):
            planes[0, 0, action] = sign * state.total / np.float32(HIGHEST_VALUE)
            planes[1, 0, action] = state.ply / np.float32(game.depth)
            planes[2, 0, action] = (path_of(state.path, action) >> 57) / np.float32(HIGHEST_VALUE)

    def hash_key(game, state):
        """Returns the word of the path, because two paths never lead to the same position."""
        return state.path

    def ranges(game) -> Ranges:
        return {"branching": (1, 1000), "depth": (1, 1000), "seed": (0, 999_999_999)}

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return game.branching

    @property
    def max_plies(game) -> int:
        return game.depth

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, 1, game.branching

    def text_to_action(game, state, text: str) -> int:
        if not re.fullmatch("0|[1-9][0-9]{0,2}", text) or int(text) >= game.branching:
            raise BadInput(f"{text!r} is not a move of p_game; moves are 0 to {game.branching - 1}")
        return int(text)

    def draw(game, state, marks: dict[int, str]) -> str:
        lines = [f"ply {state.ply} of {game.depth}, sum {state.total:+d}"]
        if state.ply < game.depth:
            for action in range(game.branching):
                value = value_of(state.path, action, int(state.ply))
                lines.append(f"{action:>4}: {value:+4d}  {marks.get(action, '')}".rstrip())
        return "\n".join(lines)

    def picture(game, state, legal: list[int], history: list[int]) -> Picture:
        return draw_tree(game, state, legal, history)
