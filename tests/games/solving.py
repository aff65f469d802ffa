"""The value of small games, by trying all moves."""

import math

import numpy as np

from azero.games import ONGOING, Game, new_states
from azero.jit import kernel


def solve(game: Game) -> float:
    """Returns the final score of the first player when both play their best."""
    states = new_states(game.rules, game.max_plies + 1)
    game.rules.reset(states[0])
    legal = np.zeros((game.max_plies, game.num_actions), np.int32)
    return float(_search(game.rules, states, legal, 0, -math.inf, math.inf))


@kernel
def _search(rules, states, legal, ply, low, high):
    """Returns the best score that can be had from `states[ply]`, which matters between `low` and `high` only."""
    if rules.outcome(states[ply]) != ONGOING:
        return rules.final_score(states[ply])
    is_first = rules.current_player(states[ply]) == 0
    for k in range(rules.legal_actions(states[ply], legal[ply])):
        states[ply + 1] = states[ply]
        rules.apply_action(states[ply + 1], legal[ply, k])
        score = _search(rules, states, legal, ply + 1, low, high)
        if is_first:
            low = max(low, score)
        else:
            high = min(high, score)
        if low >= high:
            break
    return low if is_first else high
