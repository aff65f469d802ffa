"""Compares plain UCT with random rollouts with OpenSpiel's C++ MCTSBot: the search alone, and whole calls.

Both search the same positions from scratch on one thread, in turns, so that noise of the machine affects both. A whole
call is `agent.suggest(state)` of `uct@N`, with a ranking and variations of all moves, or `bot.step(state)`.

    make bench
    python benchmarks/uct_against_openspiel.py --game connect_four
    python benchmarks/uct_against_openspiel.py --game openspiel:chess --simulations 2000
"""

import argparse
import statistics
import time
from collections.abc import Callable

import pyspiel

from azero import make_agent, make_game
from azero.games import Game
from azero.mcts import MAX_NODES, Settings, TreeSearch, Uct

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
"""OpenSpiel's names of games, by our names."""

Call = Callable[[int], float]
"""A function from a seed to the seconds of one search or one call."""


def seconds_of(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def bot_of(game: pyspiel.Game, num_simulations: int, seed: int) -> pyspiel.MCTSBot:
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(game, evaluator, 1.4, num_simulations, 1000, False, seed, False)


def searches(game: Game, theirs: pyspiel.Game, num_simulations: int) -> tuple[Call, Call]:
    """Returns azero's search and OpenSpiel's, both without a solver."""
    max_nodes = min(MAX_NODES, num_simulations * game.num_actions + 1)
    search = TreeSearch(game, Uct(c=1.4), Settings(is_proving=False), max_nodes=max_nodes)
    search.prepare()
    state, their_state = game.new_initial_state(), theirs.new_initial_state()

    def time_ours(seed: int) -> float:
        search.start(0, state, seed)
        return seconds_of(lambda: search.run([0], num_simulations))

    def time_theirs(seed: int) -> float:
        bot = bot_of(theirs, num_simulations, seed)
        return seconds_of(lambda: bot.mcts_search(their_state))

    return time_ours, time_theirs


def whole_calls(game: Game, theirs: pyspiel.Game, num_simulations: int) -> tuple[Call, Call]:
    """Returns azero's suggestion and OpenSpiel's step."""
    agent = make_agent(f"uct(c=1.4,prove=false)@{num_simulations}", game=game, seed=0, threads=1)
    state, their_state = game.new_initial_state(), theirs.new_initial_state()
    agent.suggest(state)  # compiles the search

    def time_theirs(seed: int) -> float:
        bot = bot_of(theirs, num_simulations, seed)
        return seconds_of(lambda: bot.step(their_state))

    return lambda seed: seconds_of(lambda: agent.suggest(state)), time_theirs


def measure(name: str, calls: tuple[Call, Call], num_simulations: int, rounds: int) -> None:
    """Prints a line of the table."""
    times = [(calls[1](seed), calls[0](seed)) for seed in range(rounds)]
    theirs_s, ours_s = (statistics.median(each) for each in zip(*times, strict=True))
    ratios = [theirs / ours for theirs, ours in times]
    rates = f"{num_simulations / ours_s:>11,.0f} {num_simulations / theirs_s:>11,.0f}"
    calls_ms = f"{1e3 * ours_s:>9.2f} {1e3 * theirs_s:>9.2f}"
    spread = f"{min(ratios):.1f} to {max(ratios):.1f}"
    print(f"{name:<14} {rates} {calls_ms} {statistics.median(ratios):>7.1f}   {spread}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", help="one of the games, or any of OpenSpiel's, openspiel:NAME; all unless given")
    parser.add_argument("--simulations", type=int, default=20_000, help="of the search alone")
    parser.add_argument("--simulations-a-call", type=int, default=2_000, help="of a whole call")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()

    print("UCT from the start, one thread; OpenSpiel: C++ MCTSBot, RandomRolloutEvaluator")
    print(f"medians of {arguments.rounds} rounds, both in turns")
    for title, make_calls, num_simulations in (
        ("the search alone", searches, arguments.simulations),
        ("whole calls, suggest and step", whole_calls, arguments.simulations_a_call),
    ):
        print(f"\n{title}, {num_simulations:,} simulations")
        print(f"{'':<14} {'simulations a second':^23} {'milliseconds':^19}")
        print(f"{'':<14} {'azero':>11} {'OpenSpiel':>11} {'azero':>9} {'OpenSpiel':>9} {'ratio':>7}   spread")
        for name in [arguments.game] if arguments.game else GAMES:
            theirs = pyspiel.load_game(GAMES.get(name) or name.removeprefix("openspiel:"))
            calls = make_calls(make_game(name), theirs, num_simulations)
            measure(name, calls, num_simulations, arguments.rounds)


if __name__ == "__main__":
    main()
