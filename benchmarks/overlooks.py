"""Counts wins and blocks in one that levels overlook, beside "the best move, sometimes a random one" of the same Elo.

    python benchmarks/overlooks.py connect_four --games 160
    python benchmarks/overlooks.py uct --game hex --levels 1 2 3

Each plays against `uct@100`, with the judgement of the agent that is named. The best move is that of its full strength.
A win is overlooked if another move is played. A block is overlooked if one move alone keeps the opponent from winning
at once, and another is played. The script prints a line per player: its Elo against `uct@100`, the cases, and the share
that it overlooked with a 95 % interval.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from azero.arena.agents.agent import Agent, Limit
from azero.arena.agents.levels import LevelAgent, table_of
from azero.arena.agents.names import make_agent
from azero.arena.agents.suggestion import Suggestion
from azero.arena.matches.match import play_match
from azero.arena.matches.results import MatchResult
from azero.arena.matches.statistics import elo_from_score, elo_interval
from azero.compiler.rng import derive_seed
from azero.games import Game, State
from azero.mcts.proving.wins import LETS_WIN, QUIET, WINS, wins_in_one


class SometimesRandom(Agent):
    """Plays a random move with a probability, and otherwise what another agent plays."""

    def __init__(self, inner: Agent, probability: float):
        super().__init__(f"random {probability:.0%}", inner.game, inner.seed)
        self._inner, self._probability = inner, probability

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        self._inner.start(num_slots, states, first_game)
        self._states = [state.clone() for state in states]
        self._random = [np.random.default_rng(derive_seed(self.seed, first_game + slot)) for slot in range(num_slots)]

    def advance(self, slot: int, action: int) -> None:
        self._inner.advance(slot, action)
        self._states[slot].apply_action(action)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        best = self._inner.choose(slots)
        for place, slot in enumerate(slots):
            if self._random[slot].random() < self._probability:
                best[place] = int(self._random[slot].choice(self._states[slot].legal_actions()))
        return best

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        return self._inner.suggest(state, simulations, seconds)


def count_overlooked(game: Game, result: MatchResult) -> tuple[int, int]:
    """Returns in how many positions A had a win or a block in one, and in how many of these it overlooked it."""
    cases = overlooked = 0
    for each in result.results:
        state = game.new_initial_state()
        for ply, action in enumerate(each.actions):
            if ply >= each.opening_plies and (state.current_player() == 0) == each.a_is_first:
                kinds = wins_in_one(state)
                kind = kinds[state.legal_actions().index(action)]
                if (kinds == WINS).any():
                    cases, overlooked = cases + 1, overlooked + (kind != WINS)
                elif len(kinds) > 2 and (kinds == QUIET).sum() == 1:
                    cases, overlooked = cases + 1, overlooked + (kind == LETS_WIN)
            state.apply_action(action)
    return cases, overlooked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent", help="a net, or uct")
    parser.add_argument("--game", help="the game, for agents without a net")
    parser.add_argument("--levels", type=int, nargs="*", help="all but full strength, by default")
    parser.add_argument("--games", type=int, default=160)
    parser.add_argument("--random", type=float, nargs="*", default=[0.1, 0.2, 0.3, 0.4, 0.5])
    options = parser.parse_args()
    inner = make_agent(options.agent, options.game, seed=1)
    levels = table_of(inner.game).levels
    inner.limit = Limit(levels[-1].simulations)
    wanted = options.levels or range(1, len(levels))
    players: list[Agent] = [LevelAgent(inner, levels[number - 1]) for number in wanted]
    players += [SometimesRandom(inner, probability) for probability in options.random]
    for player in players:
        opponent = make_agent("uct@100", inner.game, seed=2)
        result = play_match(player, opponent, inner.game, options.games)
        low, high = elo_interval(result.pair_scores)
        cases, overlooked = count_overlooked(inner.game, result)
        share = overlooked / max(cases, 1)
        width = 1.96 * (share * (1 - share) / max(cases, 1)) ** 0.5
        elo = f"{elo_from_score(result.tally.score):+5.0f} [{low:+.0f}, {high:+.0f}]"
        print(f"{player.name:<24} Elo {elo:<22} overlooked {share:6.1%} +- {width:.1%} of {cases}", flush=True)


if __name__ == "__main__":
    main()
