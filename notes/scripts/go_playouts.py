"""Random games of 9x9 Go beside the figures of the reference specification (Dailey 2008).

    python notes/scripts/go_playouts.py --games 1000000

Komi does not change a random game, so that each row has the same games, counted another way.
"""

import argparse
import math
import time

import numpy as np

from azero.compiler.rng import new_rng
from azero.games import make_game, new_states
from azero.mcts.rollouts.playing import count_random_games

KNOWN = {0.0: 0.524478, 5.5: 0.445677, 7.0: 0.4333795, 7.5: 0.421281}
"""Black's score by komi, a draw counting half."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()

    print(f"{'komi':>5} {'plies':>9} {'Black':>9} {'known':>9} {'+-':>8} {'games/s':>9}")
    for komi, known in KNOWN.items():
        game = make_game(f"go(size=9,komi={komi})")
        rng = new_rng(arguments.seed)
        state, legal = new_states(game.rules, 1)[0], np.zeros(game.num_actions, np.int32)
        actions = np.zeros(game.max_plies + 1, np.int32)
        count_random_games(game.rules, state, legal, rng, actions, 0)
        begin = time.perf_counter()
        plies, wins, draws = count_random_games(game.rules, state, legal, rng, actions, arguments.games)
        elapsed = time.perf_counter() - begin
        score, error = (wins + draws / 2) / arguments.games, 0.5 / math.sqrt(arguments.games)
        speed = arguments.games / elapsed
        print(f"{komi:>5} {plies / arguments.games:>9.4f} {score:>9.6f} {known:>9.6f} {error:>8.6f} {speed:>9,.0f}")


if __name__ == "__main__":
    main()
