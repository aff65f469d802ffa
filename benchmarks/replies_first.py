"""Measures what it saves alpha-beta to try moves with few replies first: random positions, solved with and without.

    python benchmarks/replies_first.py
    python benchmarks/replies_first.py --game "clobber(rows=6,columns=6)" --plies 11

A position is some plies before the end of a random game. Both searches solve it, in turns, in the same process.
notes/2026-11-alpha-beta.md has the results.
"""

import argparse
import random
import time
from unittest.mock import patch

import azero
from azero.exact.solver import solve
from azero.games import State

CASES = (
    ("othello(size=6)", 13),
    ("othello(size=6)", 17),
    ("othello", 14),
    ("othello", 16),
    ("clobber(rows=6,columns=6)", 11),
    ("clobber", 12),
    ("amazons(rows=6,columns=6)", 24),
    ("breakthrough(size=6)", 12),
)


def main() -> None:
    """Prints a line per game and distance from the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", help="only this game")
    parser.add_argument("--plies", type=int, help="plies to the end of the random games; 12 by default")
    parser.add_argument("--positions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=6_000_000, help="nodes of a search")
    options = parser.parse_args()
    if options.plies is not None and options.game is None:
        parser.error("--plies is for the game that --game names")
    for game, plies in [(options.game, options.plies or 12)] if options.game else CASES:
        rng = random.Random(options.seed)
        states = [position_before_the_end(azero.make_game(game), plies, rng) for _ in range(options.positions)]
        print(f"{game}, {plies} plies before the end: {compare(states, options.limit)}", flush=True)


def position_before_the_end(game: azero.Game, plies: int, rng: random.Random) -> State:
    """Returns the position that is so many plies before the end of a random game."""
    actions: list[int] = []
    while len(actions) < plies:
        state, actions = game.new_initial_state(), []
        while not state.is_terminal():
            actions.append(rng.choice(state.legal_actions()))
            state.apply_action(actions[-1])
    state = game.new_initial_state()
    for action in actions[: len(actions) - plies]:
        state.apply_action(action)
    return state


def compare(states: list[State], limit: int) -> str:
    """Returns nodes, times and the numbers of solved positions, without and with this order of moves."""
    rules = type(states[0].game.rules)
    nodes, seconds, solved = [0, 0], [0.0, 0.0], [0, 0]
    solve(states[0], node_limit=1)  # compiles
    for state in states:
        for is_on in (False, True):
            with patch.object(rules, "is_about_mobility", is_on):
                begin = time.perf_counter()
                solution = solve(state, node_limit=limit)
            seconds[is_on] += time.perf_counter() - begin
            nodes[is_on] += solution.num_nodes
            solved[is_on] += solution.value is not None
    num, (without, with_it) = len(states), nodes
    return (
        f"{without / num:,.0f} nodes without, {with_it / num:,.0f} with it, {without / with_it:.2f} to 1; "
        f"{1000 * seconds[0] / num:.1f} and {1000 * seconds[1] / num:.1f} ms, {seconds[0] / seconds[1]:.2f} to 1; "
        f"solved {solved[0]} and {solved[1]} of {num}"
    )


if __name__ == "__main__":
    main()
