"""Rollouts a second by policy: a game's own, uniform, and a linear softmax, whose weights do not matter for speed.

python notes/scripts/rollout_policies.py --time 2
"""

import argparse
import time

import numpy as np

from azero.games import Game, make_game
from azero.mcts import FlatSearch, OwnRollout, RolloutPolicy, Settings, Uct, UniformRollout
from azero.mcts.rollouts.features import NUM_PATTERNS
from azero.mcts.rollouts.weights import policy_of_weights

GAMES = ("tic_tac_toe", "connect_four", "othello", "go(size=9)", "hex", "amazons", "breakthrough", "clobber", "gomoku")


def rollouts_per_s(game: Game, policy: RolloutPolicy, seconds: float) -> float:
    """Returns rollouts a second of CPU time from the moves of the initial position, on one thread."""
    search = FlatSearch(game, Uct(), Settings(is_proving=False), rollout=policy)
    search.prepare()
    search.start(0, game.new_initial_state(), 0)
    num, elapsed = 1, 0.0
    while elapsed < seconds / 2:
        num *= 2
        begin = time.process_time()
        search.run([0], num)
        elapsed = time.process_time() - begin
    return num / elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--time", type=float, default=2.0, metavar="S", help="seconds each measurement takes, about")
    seconds = parser.parse_args().time

    print(f"{'':<14}{'own':>12}{'uniform':>12}{'softmax':>12}   rollouts a second of CPU time, one thread")
    for name in GAMES:
        game, rng = make_game(name), np.random.default_rng(0)
        softmax = policy_of_weights(rng.normal(size=NUM_PATTERNS) / 4, rng.normal(size=game.num_actions) / 4)
        speeds = [rollouts_per_s(game, policy, seconds) for policy in (OwnRollout(), UniformRollout(), softmax)]
        print(f"{name:<14}" + "".join(f"{speed:>12,.0f}" for speed in speeds), flush=True)


if __name__ == "__main__":
    main()
