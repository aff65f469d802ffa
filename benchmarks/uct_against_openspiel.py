"""Plain UCT with random rollouts: simulations a second of azero and of OpenSpiel's C++ MCTSBot, in one run.

Both search the same positions from scratch on one thread, in turns, so that a noisy machine is noisy to both.
Run it by `make bench`, or for one game: python benchmarks/uct_against_openspiel.py --game connect_four
"""

import argparse
import statistics
import time

import pyspiel

from azero.games import make_game
from azero.mcts import MAX_NODES, Search, Settings, Uct

GAMES = {
    "tic_tac_toe": "tic_tac_toe",
    "connect_four": "connect_four",
    "othello": "othello",
    "go": "go(board_size=9,komi=7.5)",
    "amazons": "amazons",
    "clobber": "clobber(rows=8,columns=8)",
    "breakthrough": "breakthrough",
    "hex": "hex(board_size=11)",
    "gomoku": "gomoku(size=15)",
}
"""Our games by name, and OpenSpiel's."""


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


def measure(game_name: str, their_name: str, num_simulations: int, rounds: int) -> None:
    """Prints a line of the table."""
    game, theirs = make_game(game_name), pyspiel.load_game(their_name)
    max_nodes = min(MAX_NODES, num_simulations * game.num_actions + 1)
    search = Search(game, Uct(c=1.4), Settings(is_proving=False), max_nodes=max_nodes)
    search.prepare()
    state = game.new_initial_state()
    ratios, ours_per_s, theirs_per_s = [], [], []
    for seed in range(rounds):
        theirs_s = time_openspiel(theirs, num_simulations, seed)
        ours_s = time_azero(search, state, num_simulations, seed)
        ratios.append(theirs_s / ours_s)
        ours_per_s.append(num_simulations / ours_s)
        theirs_per_s.append(num_simulations / theirs_s)
    speeds = f"{statistics.median(ours_per_s):>11,.0f} {statistics.median(theirs_per_s):>11,.0f}"
    print(
        f"{game_name:<24} {speeds} {statistics.median(ratios):>7.1f}   {min(ratios):.1f} to {max(ratios):.1f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=GAMES, help="one of the games; all unless given")
    parser.add_argument("--simulations", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    print(f"UCT, {arguments.simulations:,} simulations from the start, one thread, simulations a second;")
    print(f"OpenSpiel: C++ MCTSBot, RandomRolloutEvaluator; medians of {arguments.rounds} rounds, both in turns")
    print(f"{'':<24} {'azero':>11} {'OpenSpiel':>11} {'ratio':>7}   spread")
    for name in [arguments.game] if arguments.game else GAMES:
        measure(name, GAMES[name], arguments.simulations, arguments.rounds)


if __name__ == "__main__":
    main()
