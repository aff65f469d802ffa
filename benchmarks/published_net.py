"""Measures how much weaker the net that a run publishes is than the best net of its final.

    python benchmarks/published_net.py [--runs 10] [--games 1600] [--game connect_four]

Each run is short, and has a seed of its own. Afterwards the nets of its final play a long pool from other openings.
The script prints the Elo of the strongest other net above the published one, with the 95 % interval of this difference.
That net is the strongest in these games, so the difference is a little too large on average.
"""

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path

import azero
from azero.arena.ratings.pool import RatingPool
from azero.config.reading import check_config
from azero.games import make_game
from azero.training.final import mean_of
from azero.training.state import CANDIDATE, MEAN, NUM_PROMOTED

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


def measure(game: str, num_games: int, seed: int) -> tuple[str, str, float, float]:
    """Returns the published net of a run, the strongest other one, its Elo above, and the half width of that."""
    with tempfile.TemporaryDirectory() as folder:
        config = config_of(game, seed)
        with contextlib.redirect_stdout(sys.stderr):
            view = azero.train(config, run=Path(folder) / "run")
        files = nets_of_final(view)
        agents = {name: f"{path}(solve_nodes=0)@{config.gate.num_simulations}" for name, path in files.items()}
        played = make_game(game)
        pool = RatingPool(
            played, list(agents.values()), lambda name, own: azero.make_agent(name, played, own, 2), seed, None
        )
        pool.play(num_games)
        others = [each for each in pool.ratings(agents[view.final]).agents if each.name != agents[view.final]]
    best = others[0]
    other = next(name for name, agent in agents.items() if agent == best.name)
    return view.final, other, best.elo, best.elo - best.elo_ci95[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--games", type=int, default=1600)
    parser.add_argument("--game", default="connect_four")
    given = parser.parse_args()
    found = []
    for seed in range(given.runs):
        published, other, elo, half = measure(given.game, given.games, seed)
        found.append(elo)
        print(f"run {seed}: published {published}; strongest other {other}: {elo:+.0f} +- {half:.0f} Elo", flush=True)
    good = sum(elo <= MOST_ELO for elo in found)
    print(f"{good} of {len(found)} published nets are at most {MOST_ELO:.0f} Elo weaker than another of their final")


if __name__ == "__main__":
    main()
