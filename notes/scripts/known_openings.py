"""Connect Four from openings that are known to be won or drawn: an agent's score, and a perfect player's.

    pip install bitbully==0.0.79 bitbully-databases==0.0.2
    python notes/scripts/known_openings.py RUN@100 uct@1000 --games 400

The openings are those of `azero evaluate`, of three or four random plies. BitBully, by Markus Thill, knows their
results. Only the games count in which the agent plays the winner's side, or either side of a drawn opening. BitBully
plays the same games as the perfect player. It wins as early as possible, and loses as late as possible.
"""

import argparse
from itertools import islice

from bitbully import bitbully_core
from bitbully_databases import BitBullyDatabases

from azero import make_agent, make_game
from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import Suggestion, lone_move
from azero.arena.matches.match import play_match
from azero.arena.matches.openings import OPENING_PLIES, draw_openings
from azero.arena.matches.statistics import score_interval
from azero.games import State

GAME = make_game("connect_four")


class Perfect(Agent):
    """Plays by BitBully's scores."""

    def __init__(self) -> None:
        super().__init__("perfect", GAME)
        self.solver = bitbully_core.BitBullyCore(BitBullyDatabases.get_database_path("12-ply-dist"))

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        return lone_move(state, max(range(7), key=self.scores(state).__getitem__))

    def scores(self, state: State) -> list[int]:
        """Returns each column's score for the player to move, above zero if it wins; a full column has the lowest."""
        board = bitbully_core.BoardCore()
        for action in state.history():
            board.play(action)
        return self.solver.scoreMoves(board)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent")
    parser.add_argument("opponent")
    parser.add_argument("--games", type=int, default=400, help="games of the match, of which about half count")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    perfect, opponent = Perfect(), make_agent(options.opponent, GAME, seed=options.seed)
    openings = islice(draw_openings(GAME, OPENING_PLIES, options.seed), options.games // 2)
    values = [max(perfect.scores(state)) * (1 if state.current_player() == 0 else -1) for state in openings]
    means = []
    for agent in (make_agent(options.agent, GAME, seed=options.seed), perfect):
        match = play_match(agent, opponent, GAME, options.games, options.seed)
        scores = [
            each.score for each in match.results if (values[each.pair] if each.a_is_first else -values[each.pair]) >= 0
        ]
        means.append(sum(scores) / len(scores))
        low, high = score_interval(scores)
        print(f"{agent.name}: {100 * means[-1]:.1f} % [{100 * low:.1f}, {100 * high:.1f}] of {len(scores)} games")
    print(f"of the perfect player's score: {100 * means[0] / means[1]:.1f} %")


if __name__ == "__main__":
    main()
