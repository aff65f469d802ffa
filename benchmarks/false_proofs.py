"""Counts false proofs on random positions of Othello 4x4 and on endings of Othello 6x6.

    python benchmarks/false_proofs.py [--positions 1000] [--seed 0]

Every proven result of an agent is compared with alpha-beta without a table to the end of the game.
"""

import argparse
import random
from collections.abc import Iterator

from tqdm import tqdm

from azero import make_agent, make_game
from azero.exact.solver import solve
from azero.games import Game, State
from azero.games.contract import sign_of

CLASSICAL = ("uct(table=100000)@3000", "uct(table=200)@3000", "alphabeta(rollouts=1)@20000")
CASES = {
    "othello(size=4)": (12, CLASSICAL),
    "othello(size=6)": (11, (*CLASSICAL, "othello_6x6(solve_nodes=100000)@100")),
}
"""Largest number of empty cells of a position, and the agents, by game."""


def random_positions(game: Game, most_empty: int, num_positions: int, seed: int) -> Iterator[State]:
    """Yields positions of random games, one per game, with at least two legal moves."""
    chooser = random.Random(seed)
    while num_positions:
        state, open_states = game.new_initial_state(), []
        while not state.is_terminal():
            if state.planes()[2].sum() <= most_empty and len(state.legal_actions()) > 1:
                open_states.append(state.clone())
            state.apply_action(chooser.choice(state.legal_actions()))
        if open_states:
            yield chooser.choice(open_states)
            num_positions -= 1


def true_results(state: State) -> dict[str, str]:
    """Returns the result of each move for the player to move, by the move's text."""
    words, sign = {1: "win", 0: "draw", -1: "loss"}, sign_of(state.current_player())
    results = {}
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        value = solve(after, max_table_entries=0).value
        results[state.game.action_to_text(state, action)] = words[int(sign * value)]
    return results


def count_proofs(name: str, states: list[State], truths: list[dict[str, str]], seed: int) -> tuple[int, int]:
    """Returns the number of results that an agent proves in these positions, and the number of false ones."""
    num_proven = num_false = 0
    agent = make_agent(name, game=states[0].game, seed=seed, threads=1)
    for state, truth in zip(tqdm(states, desc=name, leave=False, disable=None), truths, strict=True):
        for move in agent.suggest(state).moves:
            num_proven += move.proven is not None
            num_false += move.proven not in (None, truth[move.move])
    agent.close()
    return num_proven, num_false


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--positions", type=int, default=1000, help="positions of each game")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for game_name, (most_empty, agents) in CASES.items():
        game = make_game(game_name)
        states = list(random_positions(game, most_empty, arguments.positions, arguments.seed))
        truths = [true_results(state) for state in tqdm(states, desc=game_name, leave=False, disable=None)]
        for name in agents:
            num_proven, num_false = count_proofs(name, states, truths, arguments.seed)
            print(f"{game_name:<16} {name:<36} {num_proven:>7,} proofs, {num_false:>4,} false", flush=True)
