"""Plain UCT against OpenSpiel's C++ MCTSBot at the same number of simulations and the same constant: as strong, or not.

Both search each position from scratch, with random rollouts, proofs and the most visited move; games come in pairs from
a random opening, colours swapped. Equal programs score 50 % within the interval.
"""

import argparse
import re

import pyspiel

from azero.arena.agents.agent import Agent
from azero.arena.agents.suggestion import Suggestion, lone_move
from azero.arena.matches.match import play_match
from azero.arena.matches.statistics import Tally, score_interval
from azero.games import Game, State, make_game
from azero.mcts import Settings, TreeSearch, Uct

C = 1.4

GAMES = {
    "connect_four": ("connect_four", "connect_four", 1000),
    "othello": ("othello", "othello", 300),
    "breakthrough": ("breakthrough(rows=6,columns=6)", "breakthrough(rows=6,columns=6)", 1000),
}
"""By name: our game, OpenSpiel's, and simulations a move."""


class FromScratch(Agent):
    """Plays each move by a search that knows nothing of the one before."""

    def search(self, state: State) -> int:
        raise NotImplementedError

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        return lone_move(state, self.search(state))


class Azero(FromScratch):
    def __init__(self, game: Game, num_simulations: int):
        super().__init__("azero", game)
        max_nodes = num_simulations * game.num_actions + 1
        self.tree, self.num_simulations = TreeSearch(game, Uct(C), Settings(), max_nodes=max_nodes), num_simulations

    def search(self, state: State) -> int:
        self.seed += 1
        self.tree.start(0, state, self.seed)
        self.tree.run([0], self.num_simulations)
        return self.tree.choose(0)


class OpenSpiel(FromScratch):
    def __init__(self, game: Game, theirs: str, num_simulations: int):
        super().__init__("OpenSpiel", game)
        self.theirs = pyspiel.load_game(theirs)
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        self.bot = pyspiel.MCTSBot(self.theirs, evaluator, C, num_simulations, 1000, True, 1, False)

    def search(self, state: State) -> int:
        ours, theirs = self.game.new_initial_state(), self.theirs.new_initial_state()
        for action in state.history():
            theirs.apply_action(self.to_theirs(ours, theirs, action))
            ours.apply_action(action)
        chosen = _plain(theirs.action_to_string(self.bot.step(theirs)))
        return next(each for each in ours.legal_actions() if self.text(ours, each) == chosen)

    def to_theirs(self, ours: State, theirs: pyspiel.State, action: int) -> int:
        text = self.text(ours, action)
        return next(each for each in theirs.legal_actions() if _plain(theirs.action_to_string(each)) == text)

    def text(self, state: State, action: int) -> str:
        if self.game.name.startswith("connect_four"):
            return f"{'xo'[state.current_player()]}{action}"  # OpenSpiel counts columns from 0
        text = _plain(self.game.action_to_text(state, action))
        if self.game.name.startswith("breakthrough"):
            return text.translate(str.maketrans("123456", "654321"))  # its first player starts at the top
        return text


def _plain(text: str) -> str:
    """Returns a move without what marks a capture."""
    return re.sub(r"[-*]|(?<=\d)x(?=[a-z])", "", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=GAMES, help="one of the games; all unless given")
    parser.add_argument("--games", type=int, default=200)
    arguments = parser.parse_args()
    print(f"UCT of azero against OpenSpiel's MCTSBot, c = {C}, {arguments.games} games each")
    for name in [arguments.game] if arguments.game else GAMES:
        ours, theirs, num_simulations = GAMES[name]
        game = make_game(ours)
        result = play_match(
            Azero(game, num_simulations), OpenSpiel(game, theirs, num_simulations), game, arguments.games, seed=1
        )
        tally: Tally = result.tally
        low, high = score_interval(result.pair_scores)
        games = f"won {tally.wins}, drawn {tally.draws}, lost {tally.losses}"
        print(
            f"{ours:<32} {num_simulations:>5} simulations  {tally.score:.1%} [{low:.1%}, {high:.1%}]  {games}",
            flush=True,
        )


if __name__ == "__main__":
    main()
