"""Measures what managing time is worth: an agent on a clock against itself with equal shares of its time.

    python benchmarks/managed_time.py --agent "othello(solve_nodes=0)" --clock 1s --games 400

Both sides have the same clock. B's moves get the same share of the time that is left as A's, but each uses its whole
share. The Elo difference is A's, with a 95 % interval.
"""

import argparse

from azero import TimeControl, make_agent, make_game, play_timed_match
from azero.interfaces.terminal.show import show_match


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", nargs="+", default=["uct --game connect_four", "othello(solve_nodes=0)"])
    parser.add_argument("--clock", default="1s")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--opening-plies", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for each in options.agent:
        name, _, game = each.partition(" --game ")
        made = make_game(game) if game else None
        managed, equal = (make_agent(name, made, options.seed + k, options.threads) for k in range(2))
        equal.time_manager.is_adaptive = False
        managed.name, equal.name = "managed", "equal shares"
        control = TimeControl.parse(options.clock)
        plies = options.opening_plies
        match = play_timed_match(managed, equal, managed.game, options.games, control, options.seed, plies)
        print(f"{each}, {options.clock}")
        print(show_match(match, None), flush=True)


if __name__ == "__main__":
    main()
