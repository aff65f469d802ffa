"""Compares published agents, in node, with the same agents here.

    PYTHONPATH=. python benchmarks/published.py agree connect_four go_9x9 --games 1000 --positions 1000
    PYTHONPATH=. python benchmarks/published.py match connect_four@400 --games 200

`agree` prints a line for each agent; by default for all nets that ship:

- the CPU seconds of publishing it, the sizes of the module and of the weights, and milliseconds of an evaluation;
- in how many random games all states, planes, legal moves, keys and outcomes agree byte by byte, and at every 16th ply
  the moves' cells and what they win or lose at once;
- in how many positions a search has the same visits, values and proofs at the root, with a table in place of the net;
- in how many it has the same visits and proofs with the net, which runs here by torch with the same weights.

`match` plays each opening twice, colours swapped. Both sides search each position afresh. It prints the published
agent's score and its interval of 95 %.

With `--folder`, agents are kept there, and are not made again.
"""

import argparse
import os
import resource
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from azero.arena.agents.checkpoints import shipped_checkpoints
from azero.arena.agents.make import make_agent
from azero.arena.matches.openings import draw_openings
from azero.arena.matches.statistics import score_interval
from azero.games import Game
from azero.mcts import TreeSearch
from azero.publishing.build import build
from tests.publishing.published import (
    Asked,
    NetEvaluator,
    TableEvaluator,
    ask,
    described,
    positions_of,
    random_games,
    state_after,
    visits_in,
    visits_of,
    write,
)

EVERY = 16
"""Plies from one position whose moves are compared to the next. In large games this takes most of the time."""


def published(agent: str, folder: Path) -> tuple[Path, float]:
    """Returns where an agent's files are, and the CPU seconds that they took; 0 if they were there."""
    stem = folder / agent.partition("@")[0]
    if stem.with_suffix(".json").exists():
        return stem, 0.0
    begin = cpu_s()
    made = build(agent)
    took = cpu_s() - begin
    return write(made, stem), took


def cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def count_games(asked: Asked, game: Game, number: int) -> int:
    """Returns how many random games agree."""
    count = 0
    for actions in random_games(game, number):
        answers = asked.answer({"ask": "game", "actions": actions, "every": EVERY})
        state, own = game.new_initial_state(), []
        for ply, action in enumerate([None, *actions]):
            if action is not None:
                state.apply_action(action)
            own.append(described(state, with_moves=ply % EVERY == 0))
        count += answers == own
    return count


def count_searches(stem: Path, agent: str, evaluator: object, number: int, simulations: int) -> int:
    """Returns in how many positions a search has the same root. The evaluator takes the net's place here."""
    made = make_agent(agent)
    own = made.new_search()
    assert own is not None, "nets have one"
    settings = own.settings._replace(leaves_per_tree=1, visits_per_leaf=0)
    search = TreeSearch(made.game, own.selection, settings, evaluator, max_nodes=1 << 20)  # type: ignore[arg-type]
    question: dict[str, Any] = {
        "ask": "search",
        "simulations": simulations,
        "isTable": isinstance(evaluator, TableEvaluator),
    }
    asked = [{**question, "actions": each, "seed": seed} for seed, each in enumerate(positions_of(made.game, number))]
    count = 0
    for each, answer in zip(asked, ask(stem, asked), strict=True):
        search.start(0, state_after(made.game, each["actions"]), each["seed"])
        search.run([0], simulations)
        search.choose(0)
        found, own_found = visits_in(answer), visits_of(search)
        if not question["isTable"]:  # values differ in their last digits
            found, own_found = ({action: of[::2] for action, of in some.items()} for some in (found, own_found))
        count += found == own_found
    return count


def agree(options: argparse.Namespace, folder: Path) -> None:
    for agent in options.agents or shipped_checkpoints():
        stem, took = published(agent, folder)
        game = make_agent(agent).game
        sizes = [round(stem.with_suffix(each).stat().st_size / 1000) for each in (".wasm", ".weights")]
        with Asked(stem) as asked:
            speed = asked.answer({"ask": "speed", "actions": []})
            print(f"{agent}: {took:.0f} CPU s, {sizes[0]} KB and {sizes[1]} KB, {speed:.2f} ms; ", end="", flush=True)
            print(f"games {count_games(asked, game, options.games)}/{options.games}; ", end="", flush=True)
        found = count_searches(stem, agent, TableEvaluator(game.num_actions), options.positions, options.simulations)
        print(f"table {found}/{options.positions}; ", end="", flush=True)
        number = options.net_positions or options.positions
        found = count_searches(stem, agent, NetEvaluator(agent), number, options.simulations)
        print(f"net {found}/{number}", flush=True)


def pairs_of(options: argparse.Namespace, folder: Path) -> Iterator[float]:
    """Yields the published agent's score in each pair of games."""
    agent = make_agent(options.agents[0])
    stem, _ = published(options.agents[0], folder)
    openings = draw_openings(agent.game, options.plies, options.seed)
    with Asked(stem) as asked:
        for number, opening in enumerate(islice(openings, options.games // 2)):
            points = 0.0
            for side in range(2):  # the published agent's
                state = opening.clone()
                while not state.is_terminal():
                    seed = 2 * number + side
                    if state.current_player() == side:
                        question = {"ask": "search", "actions": state.history(), "simulations": agent.limit.simulations}
                        action = asked.answer({**question, "seed": seed})["played"]
                    else:
                        agent.seed = seed
                        action = agent.suggest(state).action
                    state.apply_action(action)
                points += (1 + state.returns()[side]) / 4
            yield points


def match(options: argparse.Namespace, folder: Path) -> None:
    scores = list[float]()
    for points in pairs_of(options, folder):
        scores.append(points)
        low, high = score_interval(scores)
        mean = sum(scores) / len(scores)
        end = "\n" if len(scores) == options.games // 2 else "\r"
        print(f"{options.agents[0]}: {mean:.3f}, {low:.3f} to {high:.3f}, {2 * len(scores)} games", end=end, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["agree", "match"])
    parser.add_argument("agents", nargs="*", metavar="AGENT")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--net-positions", type=int, help="those with the net; by default as many as with the table")
    parser.add_argument("--simulations", type=int, default=100, help="of each search of `agree`")
    parser.add_argument("--plies", type=int, default=4, help="of the openings of `match`")
    parser.add_argument("--seed", type=int, default=0, help="of the openings of `match`")
    parser.add_argument("--folder", type=Path, help="where agents are kept")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        (agree if options.what == "agree" else match)(options, folder)


if __name__ == "__main__":
    main()
