"""Writes solved endings of Othello, as a benchmark in the format of docs/solved_positions.md.

    python benchmarks/othello_endings.py endings.txt --positions 500 --empties 14
    azero evaluate othello_6x6@200 --benchmark endings.txt

The games are played by the net with few simulations against UCT, after random openings. One position is taken of each
game, with 4 to `--empties` empty cells and at least two moves. Alpha-beta solves every move. A position is kept if the
player to move has a draw or a win, and a move that loses it.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from azero.arena.agents.agent import Agent
from azero.arena.agents.names import make_agent
from azero.arena.matches.openings import draw_openings
from azero.exact.solver import solve
from azero.games import LOSS, State
from azero.games.othello.rules import Othello
from azero.system.files import write_whole

FEWEST_EMPTY = 4
PLAYERS = "@20", "uct@100"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--net", default="othello_6x6(solve_nodes=0)", help="an agent of Othello")
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--empties", type=int, default=14)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    net = make_agent(f"{options.net}{PLAYERS[0]}", seed=options.seed)
    if not isinstance(net.game.rules, Othello):
        parser.error(f"{options.net} plays {net.game}, not Othello")
    rival = make_agent(PLAYERS[1], net.game, seed=options.seed)
    lines: list[str] = []
    seen: set[str] = set()
    for state in endings(net, rival, options.empties, options.seed):
        values = results_of_moves(state)
        best = max(values.values())
        if best == LOSS or min(values.values()) == best or state.to_text() in seen:
            continue
        seen.add(state.to_text())
        lines.append(line_of(state, best, [action for action, value in values.items() if value == best]))
        if len(lines) == options.positions:
            break
    text = "\n".join([f"# game: {net.game}", f"# Endings of at most {options.empties} empty cells.", *lines, ""])
    write_whole(options.file, text.encode())


def endings(net: Agent, rival: Agent, most_empty: int, seed: int) -> Iterator[State]:
    """Yields one position with a choice of each game, for ever."""
    rng = np.random.default_rng(seed)
    for number, opening in enumerate(draw_openings(net.game, 10, seed)):
        state, reached = opening.clone(), []
        players = (net, rival) if number % 2 else (rival, net)
        while not state.is_terminal():
            if FEWEST_EMPTY <= num_empty(state) <= most_empty and len(state.legal_actions()) > 1:
                reached.append(state.clone())
            state.apply_action(int(players[state.current_player()].suggest(state).action))
        if reached:
            yield reached[rng.integers(len(reached))]


def num_empty(state: State) -> int:
    """Returns the number of empty cells: the first two planes have the stones."""
    planes = state.planes()
    return int(planes[0].size - planes[:2].sum())


def results_of_moves(state: State) -> dict[int, float]:
    """Returns the result of each legal move under best play, for the player to move."""
    sign = 1 - 2 * state.current_player()
    results = {}
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        value = solve(after).value
        assert value is not None, "there is no limit"
        results[action] = sign * value
    return results


def line_of(state: State, result: float, keeping: list[int]) -> str:
    """Returns a position, its result and the moves that keep it, as a line of a benchmark."""
    moves, replay = [], state.game.new_initial_state()
    for action in state.history():
        moves.append(state.game.action_to_text(replay, action))
        replay.apply_action(action)
    keep = " ".join(state.game.action_to_text(state, action) for action in keeping)
    return f"{','.join(moves)} {result:g} {keep}"


if __name__ == "__main__":
    main()
