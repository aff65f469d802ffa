"""Measures what managing time is worth: an agent on a clock against itself with equal shares of the same time.

    python benchmarks/managed_time.py --agent "uct --game connect_four" go_7x7 --clock 1s --games 400

Both sides have the same clock. B thinks about each move for the same time, the main time divided by the own moves of a
game. Quick games before the match tell how many these are, and a quarter is added, since many games are longer. The Elo
difference is A's, with a 95 % interval.
"""

import argparse
import statistics

from azero import TimeControl, make_agent, make_game, play_match, play_timed_match
from azero.arena.agents.time_management import Share, TimeManager
from azero.interfaces.terminal.show import show_match

LONGER = 1.25


class EqualShares(TimeManager):
    """Gives each move the same time, as long as there is enough."""

    def __init__(self, share_s: float):
        super().__init__()
        self._share_s = share_s

    def share(self, state, clock) -> Share:
        left_s = max(0.0, super().share(state, clock).planned_s)
        share_s = min(self._share_s, max(clock.main_s - 0.1 * clock.control.main_s, left_s))
        return Share(share_s, share_s)

    def has_seen_enough(self, *standing) -> bool:
        return False


def own_moves(name: str, game, opening_plies: int) -> float:
    """Returns the mean number of moves that a player makes in quick games."""
    agents = [make_agent(f"{name}@100", game, seed) for seed in (1, 2)]
    match = play_match(*agents, agents[0].game, 40, 1, opening_plies)
    return (statistics.mean(len(each.actions) for each in match.results) - opening_plies) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", nargs="+", default=["uct --game connect_four", "go_7x7"])
    parser.add_argument("--clock", default="1s")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--opening-plies", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    control, plies = TimeControl.parse(options.clock), options.opening_plies
    for each in options.agent:
        name, _, game = each.partition(" --game ")
        made = make_game(game) if game else None
        managed, equal = (make_agent(name, made, options.seed + k, options.threads) for k in range(2))
        share_s = control.main_s / own_moves(name, made, plies) / LONGER
        equal.time_manager = EqualShares(share_s)
        managed.name, equal.name = "managed", "equal shares"
        match = play_timed_match(managed, equal, managed.game, options.games, control, options.seed, plies)
        print(f"{each}, {options.clock}, equal shares of {1000 * share_s:.0f} ms")
        print(show_match(match, None), flush=True)


if __name__ == "__main__":
    main()
