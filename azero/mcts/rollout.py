"""Random games: the leaf value of UCT, and the speed of a game's rules laid bare."""

from azero.games import ONGOING
from azero.jit import kernel, subroutine
from azero.rng import random_below


@subroutine
def rollout(game, state, legal, rng):
    """Plays uniformly random moves to the end of the game; returns the outcome. `state` ends there, too."""
    while True:
        outcome = game.outcome(state)
        if outcome != ONGOING:
            return outcome
        num_legal = game.legal_actions(state, legal)
        game.apply_action(state, legal[random_below(rng, num_legal)])


@kernel
def count_random_games(game, state, legal, rng, num_games):
    """Plays random games from the start; returns the plies of all of them, the first player's wins, and the draws."""
    plies = 0
    wins = 0
    draws = 0
    for _ in range(num_games):
        game.reset(state)
        outcome = game.outcome(state)
        while outcome == ONGOING:
            num_legal = game.legal_actions(state, legal)
            game.apply_action(state, legal[random_below(rng, num_legal)])
            outcome = game.outcome(state)
            plies += 1
        wins += outcome == 1
        draws += outcome == 0
    return plies, wins, draws
