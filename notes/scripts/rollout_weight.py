"""The weight a of the mixed leaf value (1 - a) v + a z, on one trained net, by rollout policy.

python notes/scripts/rollout_weight.py --rollout own --rollout runs/c4/rollout.safetensors --games 100

Each agent meets the same net at a = 0 with as many simulations, and uct@1000; 95 % intervals.
"""

import argparse
import sys
from collections.abc import Callable

from azero.arena.agents.agent import Agent
from azero.arena.agents.checkpoints import find_checkpoint
from azero.arena.agents.clock import Limit
from azero.arena.agents.make import make_agent
from azero.arena.agents.search_agent import SearchAgent
from azero.arena.matches.match import play_match
from azero.arena.matches.statistics import score_interval
from azero.config.schema import DeviceConfig, SearchConfig
from azero.mcts import Settings, TreeSearch, rollout_named, selection_from_config
from azero.nets.checkpoint import Checkpoint, load_checkpoint
from azero.nets.evaluator import ROWS, NetEvaluator

WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
ROLLOUT_SEED, OPPONENT_SEED, MATCH_SEED = 1, 2, 3


def mixed_agent(checkpoint: Checkpoint, weight: float, rollout: str, simulations: int, seed: int) -> Agent:
    """Returns the net as an agent whose leaves are judged by it and, with this weight, by a rollout."""
    game, config = checkpoint.game, SearchConfig(**checkpoint.card.search)
    settings = Settings.from_config(config)._replace(rollout_weight=weight)
    policy = rollout_named(rollout, game)

    def make_search(num_trees: int, nodes: int, leaves: int) -> TreeSearch:
        evaluator = NetEvaluator(checkpoint.net, DeviceConfig(), ROWS, 1)
        return TreeSearch(game, selection_from_config(config), settings, evaluator, num_trees, nodes, rollout=policy)

    return SearchAgent(f"a = {weight:g}, {rollout}", game, Limit(simulations), make_search, seed)


def show_match(a: Agent, b: Agent, games: int) -> str:
    """Plays a match and returns A's score with its interval."""
    result = play_match(a, b, a.game, games, MATCH_SEED)
    low, high = score_interval(result.pair_scores)
    return f"{result.tally.score:.1%} [{low:.1%}, {high:.1%}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default="connect_four")
    parser.add_argument("--rollout", action="append", help="own, uniform or a file; may be given again")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--simulations", type=int, default=100)
    arguments = parser.parse_args()
    checkpoint = load_checkpoint(find_checkpoint(arguments.checkpoint))
    simulations = arguments.simulations

    def agent(weight: float, rollout: str, seed: int) -> Agent:
        return mixed_agent(checkpoint, weight, rollout, simulations, seed)

    opponents: dict[str, Callable[[], Agent]] = {
        "against a = 0": lambda: agent(0.0, "own", OPPONENT_SEED),
        "against uct@1000": lambda: make_agent("uct@1000", checkpoint.game, OPPONENT_SEED),
    }
    print(f"{arguments.checkpoint}, {simulations} simulations a move, {arguments.games} games a match")
    print("| rollout | a | " + " | ".join(opponents) + " | ms a move |\n|---|---|---|---|---|")
    for place, rollout in enumerate(arguments.rollout or ["own"]):
        for weight in WEIGHTS if place == 0 else WEIGHTS[1:]:
            mixed = agent(weight, rollout, ROLLOUT_SEED)
            cells = []
            for name, opponent in opponents.items():
                print(f"{mixed.name} {name}", file=sys.stderr)
                is_itself = weight == 0 and name == "against a = 0"
                cells.append("" if is_itself else show_match(mixed, opponent(), arguments.games))
            milliseconds = 1000 * mixed.player.seconds / mixed.player.moves
            print(
                f"| {rollout if weight else 'none'} | {weight:g} | {' | '.join(cells)} | {milliseconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
