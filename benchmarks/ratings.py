"""Measures ratings: whether the intervals of `azero rate` hold their coverage, and which net a run publishes.

    python benchmarks/ratings.py coverage [--pools 1000] [--agents 8] [--games 800]
    python benchmarks/ratings.py published [--runs 10] [--games 1600] [--game connect_four]

`coverage`: pools with known ratings are simulated. A pair of games has an opening that favours one side at random,
swapped colours, the first player's advantage, and draws. The pairings are those that the pool would choose. For each
kind of pool the script prints the share of the 95 % intervals, of all agents but the anchor, that contain the true
rating.

`published`: each run is short, and has a seed of its own. Afterwards the nets of its final play a long pool from other
openings. The script prints the Elo of the strongest other net above the published one, with the 95 % interval of this
difference. That net is the strongest in these games, so the difference is a little too large on average.
"""

import argparse
import contextlib
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np

import azero
from azero.arena.agents.specs import spec_of
from azero.arena.ratings.model import ELO, Scores, choose_pairings, estimate
from azero.arena.ratings.rating_pool import RatingPool, batch_size
from azero.config.reading import check_config
from azero.games import make_game
from azero.runs.folder import CANDIDATE, MEAN
from azero.runs.state import NUM_PROMOTED
from azero.training.final import mean_of


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


def add_coverage(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pools", type=int, default=1000)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--games", type=int, default=800)


def measure_coverage(options: argparse.Namespace) -> None:
    """The coverage of intervals in simulated pools."""
    print(f"{options.pools} pools of {options.agents} agents, {options.games} games each")
    for kind in KINDS:
        shares, width, error = coverage(kind, options.pools, options.agents, options.games // 2)
        deviation = shares.std() / math.sqrt(len(shares))
        print(
            f"{kind.name:<58} covered {shares.mean():.1%} +- {1.96 * deviation:.1%}, "
            f"half width {width:.0f} Elo, error {error:.0f} Elo",
            flush=True,
        )


MOST_ELO = 20.0
"""A published net should be weaker than another one by at most this."""


def config_of(game: str, seed: int):
    """Returns the settings of a short run."""
    return check_config(
        {
            "seed": seed,
            "game": {"name": game},
            "net": {"blocks": 1, "channels": 16, "policy_channels": 4, "value_channels": 4, "value_hidden": 32},
            "selfplay": {"games_per_iteration": 60, "parallel_games": 60, "num_workers": 1, "num_simulations": 16},
            "training": {"iterations": 8, "batch_size": 128, "warmup_steps": 10},
            "gate": {"games": 40, "num_simulations": 16},
            "evaluation": {"every": 0},
            "device": {"device": "cpu", "threads": 2},
        }
    )


def nets_of_final(view: azero.RunView) -> dict[str, Path]:
    """Returns the files of the nets that were in a run's final, by the names that it has for the winner."""
    paths = sorted((view.folder / "checkpoints").glob("[0-9]*.safetensors"))[-NUM_PROMOTED:]
    nets = {path.stem: path for path in paths}
    if f"{view.iteration:05d}" not in nets:
        nets[CANDIDATE] = view.folder / "candidate.safetensors"
    checkpoints = [azero.load_checkpoint(path) for path in nets.values()]
    mean = view.folder / "mean.safetensors"
    azero.save_checkpoint(mean, mean_of([each.net for each in checkpoints]), checkpoints[-1].card)
    return nets | {MEAN: mean}


def play_pool(game: str, num_games: int, seed: int) -> tuple[str, str, float, float]:
    """Returns the published net of a run, the strongest other one, its Elo above, and the half width of that."""
    with tempfile.TemporaryDirectory() as folder:
        config = config_of(game, seed)
        with contextlib.redirect_stdout(sys.stderr):
            view = azero.train(config, run=Path(folder) / "run")
        files = nets_of_final(view)
        agents = {name: f"{path}(solve_nodes=0)@{config.gate.num_simulations}" for name, path in files.items()}
        played = make_game(game)
        pool = RatingPool(played, list(agents.values()), lambda name, own: spec_of(name, played, own, 2), seed, None)
        pool.play(num_games)
        others = [each for each in pool.ratings(agents[view.final]).agents if each.name != agents[view.final]]
    best = others[0]
    other = next(name for name, agent in agents.items() if agent == best.name)
    return view.final, other, best.elo, best.elo - best.elo_ci95[0]


def add_published(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--games", type=int, default=1600)
    parser.add_argument("--game", default="connect_four")


def measure_published(options: argparse.Namespace) -> None:
    """How much weaker a published net is than the best of its final."""
    found = []
    for seed in range(options.runs):
        published, other, elo, half = play_pool(options.game, options.games, seed)
        found.append(elo)
        print(f"run {seed}: published {published}; strongest other {other}: {elo:+.0f} +- {half:.0f} Elo", flush=True)
    good = sum(elo <= MOST_ELO for elo in found)
    print(f"{good} of {len(found)} published nets are at most {MOST_ELO:.0f} Elo weaker than another of their final")


COMMANDS = {
    "coverage": (add_coverage, measure_coverage, "the coverage of intervals in simulated pools"),
    "published": (
        add_published,
        measure_published,
        "how much weaker a published net is than the best of its final",
    ),
}
"""See `subcommands.py`."""


if __name__ == "__main__":
    from subcommands import run_command

    run_command(COMMANDS, __doc__)
