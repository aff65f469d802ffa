"""Plain UCT with random rollouts: simulations a second of azero and of OpenSpiel's C++ MCTSBot, in one run.

Both search the same positions from scratch on one thread, in turns, so that a noisy machine is noisy to both.
Run it by `make bench`, or: python benchmarks/uct_against_openspiel.py --game connect_four --simulations 20000
"""

import argparse
import statistics
import time

import pyspiel

from azero.games import make_game
from azero.mcts import Search, Settings, Uct


def time_azero(search: Search, state, num_simulations: int, seed: int) -> float:
    search.start(0, state, seed)
    begin = time.perf_counter()
    search.run([0], num_simulations)
    return time.perf_counter() - begin


def time_openspiel(game: pyspiel.Game, num_simulations: int, seed: int) -> float:
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    bot = pyspiel.MCTSBot(game, evaluator, 1.4, num_simulations, 1000, False, seed, False)
    state = game.new_initial_state()
    begin = time.perf_counter()
    bot.mcts_search(state)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="connect_four")
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()

    game, theirs = make_game(arguments.game), pyspiel.load_game(arguments.game)
    max_nodes = arguments.simulations * game.num_actions + 1
    search = Search(game, Uct(c=1.4), Settings(is_proving=False), max_nodes=max_nodes)
    search.prepare()
    state = game.new_initial_state()
    ratios, ours_per_s, theirs_per_s = [], [], []
    for seed in range(arguments.rounds):
        theirs_s = time_openspiel(theirs, arguments.simulations, seed)
        ours_s = time_azero(search, state, arguments.simulations, seed)
        ratios.append(theirs_s / ours_s)
        ours_per_s.append(arguments.simulations / ours_s)
        theirs_per_s.append(arguments.simulations / theirs_s)
    print(f"UCT, {arguments.game}, {arguments.simulations:,} simulations from the start, one thread, simulations/s:")
    print(f"  azero      {statistics.median(ours_per_s):>12,.0f}")
    print(f"  OpenSpiel  {statistics.median(theirs_per_s):>12,.0f}   C++ MCTSBot, RandomRolloutEvaluator")
    spread = f"median of {len(ratios)}, {min(ratios):.1f} to {max(ratios):.1f}"
    print(f"  ratio      {statistics.median(ratios):>12.1f}   {spread}")


if __name__ == "__main__":
    main()
