"""Measures whether the intervals of `azero rate` hold their coverage: simulated pools with known ratings.

    python benchmarks/rating_coverage.py [--pools 1000] [--agents 8] [--games 800]

A simulated pair of games has an opening that favours one side at random, swapped colours, the first player's
advantage, and draws. The pairings are those that the pool would choose. For each kind of pool the script prints the
share of the 95 % intervals, of all agents but the anchor, that contain the true rating.
"""

import argparse
import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from azero.arena.ratings.model import ELO, Scores, estimate
from azero.arena.ratings.pairing import choose_pairings
from azero.arena.ratings.pool import batch_size


@dataclass(frozen=True)
class Kind:
    """A kind of pool.

    Attributes:
      spread: standard deviation of the true ratings, in Elo.
      draws: in [0, 1]; a game is drawn with probability 2 draws s (1 - s).
      draws_rise: whether draws are rare among weak agents and frequent among strong ones.
      first: the first player's advantage, in Elo.
      openings: standard deviation of an opening's advantage for the first player, in Elo.
    """

    name: str
    spread: float = 200.0
    draws: float = 0.0
    draws_rise: bool = False
    first: float = 0.0
    openings: float = 0.0


KINDS = (
    Kind("no draws, even openings"),
    Kind("many draws", draws=1.0),
    Kind("uneven openings, first player +150", openings=300.0, first=150.0),
    Kind("many draws, uneven openings, first player +100", draws=0.8, openings=150.0, first=100.0),
    Kind("many draws between strong agents, few between weak ones", draws=1.0, draws_rise=True, openings=100.0),
    Kind("wide pool", spread=500.0, draws=0.5, openings=150.0, first=50.0),
    Kind("narrow pool", spread=30.0, draws=0.5, openings=150.0, first=50.0),
)

_QUANTILES = np.array([NormalDist().inv_cdf((k + 0.5) / 64) for k in range(64)])


class World:
    """True scores: the mean score of a pair is exactly logistic in the difference of the true ratings."""

    def __init__(self, kind: Kind):
        self.kind = kind
        self._openings = (kind.first + kind.openings * _QUANTILES) / ELO  # advantages of the first player
        self._inner = np.linspace(-60.0, 60.0, 4001)  # differences in a game, from which the opening is then taken
        self._outer = sum(_logistic(self._inner[:, None] + sign * self._openings).mean(1) for sign in (1, -1)) / 2

    def play(self, a: float, b: float, num_pairs: int, rng: np.random.Generator) -> np.ndarray:
        """Returns a's scores in pairs of games of agents with the ratings `a` and `b` (not in Elo)."""
        inner = np.interp(_logistic(a - b), self._outer, self._inner)
        openings = rng.choice(self._openings, num_pairs)
        draws = self.kind.draws * (_logistic(2.0 * (a + b)) if self.kind.draws_rise else 1.0)
        return sum(_game(_logistic(inner + sign * openings), draws, rng) for sign in (1, -1)) / 2


def _game(s: np.ndarray, draws: float, rng: np.random.Generator) -> np.ndarray:
    """Returns the scores of games with the expected scores `s`."""
    drawn, chance = 2 * draws * s * (1 - s), rng.random(s.shape)
    return np.where(chance < drawn, 0.5, chance < drawn + s - drawn / 2)


def _logistic(x):
    return (1.0 + np.tanh(np.asarray(x) / 2.0)) / 2.0


def simulate(world: World, num_agents: int, num_pairs: int, rng: np.random.Generator):
    """Returns the true Elo of a pool above its first agent, the estimates, and the half widths of their intervals."""
    truth = rng.normal(0.0, world.kind.spread / ELO, num_agents)
    scores, played = Scores.none(num_agents), 0
    posterior = estimate(scores)
    while played < num_pairs:
        batch = min(batch_size(num_agents, played), num_pairs - played)
        for (a, b), count in choose_pairings(posterior, batch).items():
            for score in world.play(truth[a], truth[b], count, rng):
                scores.add(a, b, score)
        played += batch
        posterior = estimate(scores)
    return ELO * (truth - truth[0]), posterior.elo(0), posterior.half_widths(0)


def coverage(
    kind: Kind, num_pools: int, num_agents: int, num_pairs: int, seed: int = 0
) -> tuple[np.ndarray, float, float]:
    """Returns the share of intervals that contain the truth in each pool, [num_pools]; mean half width; mean error."""
    rng, world = np.random.default_rng(seed), World(kind)
    shares, widths, errors = [], [], []
    for _ in range(num_pools):
        truth, elo, half = simulate(world, num_agents, num_pairs, rng)
        shares.append(np.mean(np.abs(elo - truth)[1:] <= half[1:]))
        widths.append(half[1:].mean())
        errors.append(np.sqrt(np.mean((elo - truth)[1:] ** 2)))
    return np.array(shares), float(np.mean(widths)), float(np.mean(errors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pools", type=int, default=1000)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--games", type=int, default=800)
    given = parser.parse_args()
    print(f"{given.pools} pools of {given.agents} agents, {given.games} games each")
    for kind in KINDS:
        shares, width, error = coverage(kind, given.pools, given.agents, given.games // 2)
        deviation = shares.std() / math.sqrt(len(shares))
        print(
            f"{kind.name:<58} covered {shares.mean():.1%} +- {1.96 * deviation:.1%}, "
            f"half width {width:.0f} Elo, error {error:.0f} Elo",
            flush=True,
        )


if __name__ == "__main__":
    main()
