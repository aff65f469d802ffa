"""azero's contestant: self-play by a worker's own task, with a new net of configs/connect_four.toml.

Self-play counts simulations and evaluations of whole games. So a measurement plays a number of games, and takes the
period in which all slots are occupied: it begins when the first generation of games has ended, and ends when the last
game has begun.
"""

import argparse
import itertools
import time

import torch
from serving import serve

from azero.config.reading import find_config, load_config
from azero.config.schema import Config
from azero.games import make_game
from azero.games.names import identity_of
from azero.nets.architectures.tower.net import ResidualTower
from azero.nets.checkpoint import weights_of
from azero.selfplay.tasks import Identities, PlayPlan, SizedSeeds, play_task
from azero.system.tensor_files import Tensors

SETTINGS = (
    *("selfplay.num_simulations=64", "selfplay.full_search_share=1", "selfplay.random_opening_share=0"),
    "selfplay.parallel_games=64",
)
"""Settings besides the config's, equal to the other contestants'. 64 games fill a pass, and start sooner than 128."""


def new_weights(config: Config) -> Tensors:
    """Returns the weights of a net that are random in all layers, including the last ones."""
    game = make_game(config.game.name)
    net = ResidualTower(config.net, game)
    for weights in net.parameters():
        if weights.ndim > 1:
            torch.nn.init.normal_(weights, std=weights[0].numel() ** -0.5)
    return weights_of(net)


def full_swing(ended: list[tuple[float, int]], num_slots: int) -> float:
    """Returns games per second while all slots were occupied.

    Args:
      ended: times in seconds at which games ended, each with the number of games that had ended by then.
    """
    total = ended[-1][1]
    within = [each for each in ended if num_slots <= each[1] <= total - num_slots]
    (begin, before), (end, after) = within[0], within[-1]
    return (after - before) / (end - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="a setting of azero")
    overrides = parser.parse_args().set

    config = load_config(find_config("connect_four"), [*SETTINGS, *overrides])
    num_slots, seeds = config.selfplay.parallel_games, itertools.count()
    weights, digest = new_weights(config), identity_of(make_game(config.game.name).rules)
    games_per_s = 0.0

    def measure(seconds: float) -> dict[str, float]:
        nonlocal games_per_s
        num_games = 2 * num_slots + max(num_slots // 2, int(seconds * games_per_s))
        ended: list[tuple[float, int]] = []

        def on_games(num: int) -> None:
            ended.append((time.perf_counter(), num + (ended[-1][1] if ended else 0)))

        plan = PlayPlan(weights, (config,), Identities(digest))
        shard = play_task(plan, SizedSeeds(0, tuple(itertools.islice(seeds, num_games))), on_games)
        games_per_s = full_swing(ended, num_slots)
        return {
            "simulations": int(shard.simulations[0]) / num_games * games_per_s,
            "evaluations": int(shard.evaluations[0]) / num_games * games_per_s,
        }

    serve(measure)


if __name__ == "__main__":
    main()
