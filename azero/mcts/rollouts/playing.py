"""Random games by a game's own rollout policy: for measuring the speed of its rules and the length of games."""

import numpy as np

from azero.compiler.jit import kernel
from azero.compiler.rng import new_rng
from azero.errors import TOO_LONG, BrokenRules
from azero.games import ONGOING, State
from azero.games.state import new_states


@kernel
def count_random_games(rules, state, legal, rng, actions, played, num_games):
    """Plays random games from the start; returns their plies, the first player's wins, and the draws.

    Args:
      actions: [max_plies + 1] int32; gets the last game's actions. The extra place shows rules that break `max_plies`.
      played: [1] int64; gets the number of the last game's actions, also if the rules raise an error.
    """
    plies = 0
    wins = 0
    draws = 0
    for _ in range(num_games):
        length = 0
        played[0] = 0
        rules.reset(state)
        outcome = rules.outcome(state)
        while outcome == ONGOING:
            if length == len(actions):
                raise BrokenRules(TOO_LONG)
            action = np.int64(rules.rollout_action(state, legal, rng))
            actions[length] = action
            length += 1
            played[0] = length
            rules.apply_action(state, action)
            outcome = rules.outcome(state)
        plies += length
        wins += outcome == 1
        draws += outcome == 0
    return plies, wins, draws


@kernel
def mean_length(rules, start, states, legal, rng, max_plies, num_games):
    """Returns the mean plies of random games from the position `start`. `states` ([1 or more]) is scratch memory."""
    plies = 0
    for _ in range(num_games):
        states[0] = start
        state = states[0]
        for _ in range(max_plies):
            if rules.outcome(state) != ONGOING:
                break
            rules.apply_action(state, np.int64(rules.rollout_action(state, legal, rng)))
            plies += 1
    return plies / num_games


def plies_to_end(state: State, num_games: int = 16) -> float:
    """Returns the mean plies of random games from a position. The same position gives the same number."""
    rules = state.game.rules
    legal = np.zeros(rules.num_actions, np.int32)
    rng = new_rng(0)
    return float(mean_length(rules, state.record, new_states(rules, 1), legal, rng, rules.max_plies, num_games))
