"""Figures of a game: what random games are like, how fast they are beside those of azero's games, what methods cost."""

import random
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median
from typing import NamedTuple

from azero.bench.kernels import RandomGames, random_games
from azero.bench.rates import per_computed_s, rates_in_turns
from azero.games import Game
from azero.games.laws.costs import measure_costs
from azero.games.make import make_trusted_game

_OTHERS = ("connect_four", "othello", "go(size=9)")
"""Games with which the speed of random games is compared: a fast one, an ordinary one and a slow one."""

_SPEED_S = 0.3  # for each of these games


class Figures(NamedTuple):
    """The figures, as `azero check-game --json` prints them.

    Attributes:
      plies: mean plies of a random game by the game's rollout policy.
      first_wins: share of these games that the first player wins.
      draws: share of draws.
      moves: mean number of legal moves.
      most_moves: largest number of legal moves.
      random_games_per_s: on one thread, per second of computing, like all rates.
      uct_simulations_per_s: of a search from the initial position.
      random_moves_per_s: moves of random games.
      others: the same of some of azero's games, by name.
      ns_per_call: nanoseconds by method, and of a copy of the state.
    """

    plies: float
    first_wins: float
    draws: float
    moves: float
    most_moves: int
    random_games_per_s: float
    uct_simulations_per_s: float
    random_moves_per_s: float
    others: dict[str, float]
    ns_per_call: dict[str, float]

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yields a word and a text for each line of the report."""
        second_wins = 1 - self.first_wins - self.draws
        results = f"the first player wins {self.first_wins:.0%}, the second {second_wins:.0%}, draws {self.draws:.0%}"
        moves = f"{self.moves:.1f} legal moves, at most {self.most_moves}"
        yield "random play", f"mean {self.plies:.1f} plies and {moves}; {results}"
        rates = (
            f"{_short(self.random_games_per_s)} random games/s, {_short(self.uct_simulations_per_s)} UCT simulations/s"
        )
        yield "speed", f"{rates} on one thread"
        others = ", ".join(f"{name} {_short(per_s)}" for name, per_s in self.others.items())
        yield "moves/s", f"{_short(self.random_moves_per_s)} at random; {others}"
        costs = sorted(self.ns_per_call.items(), key=lambda each: -each[1])
        yield "ns per call", ", ".join(f"{name} {ns:.{0 if ns >= 10 else 1}f}" for name, ns in costs)


def figures_of(game: Game, games: Sequence[Sequence[int]], played: RandomGames, uct_per_s: float, seed: int) -> Figures:
    """Measures what `played` and `uct_per_s` do not tell, in the positions of `games`."""
    costs = measure_costs(game, games, random.Random(seed))
    compared = [game, *map(make_trusted_game, _OTHERS)]
    turns = rates_in_turns({k: partial(_moves_per_s, each) for k, each in enumerate(compared)}, _SPEED_S)
    own, *others = map(median, turns.values())
    return Figures(
        *(played.plies, played.first_wins, played.draws, costs.mean_moves, costs.most_moves),
        *(own / played.plies, uct_per_s, own),
        dict(zip(_OTHERS, others, strict=True)),
        costs.ns,
    )


def _moves_per_s(game: Game, seconds: float) -> float:
    def measure() -> float:
        played = random_games(game, seconds)
        return played.per_s * played.plies

    return per_computed_s(measure)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value < 1e5 else f"{value / 1e6:.2f} M"
