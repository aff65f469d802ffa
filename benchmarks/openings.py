"""Makes a file of balanced openings: random lines after which an agent thinks both sides equal.

    python benchmarks/openings.py othello_8x8@400 --plies 8 --lines 100 > azero/data/openings/othello.txt

Lines have `--plies` random turns or one fewer. No two lead to the same position, or to one in another symmetry of it.
"""

import argparse

import azero
from azero.arena.matches.openings import draw_openings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent")
    parser.add_argument("--plies", type=int, default=6)
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--most", type=float, default=0.1, help="the largest value of either side, in [-1, 1]")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    agent = azero.make_agent(options.agent, seed=options.seed)
    print(f"# game: {agent.game}")
    print(f"# of {options.plies} random turns or one fewer; {options.agent} gives values up to {options.most}")
    seen: set[tuple[bytes, int]] = set()
    for state in draw_openings(agent.game, options.plies, options.seed):
        planes = state.planes().reshape(agent.game.planes_shape[0], -1)
        views = [planes[:, cells].tobytes() for cells in agent.game.symmetries.cells]
        key = min(views), state.current_player()
        if key in seen:
            continue
        seen.add(key)
        if abs(agent.suggest(state).value) <= options.most:
            (moves,) = agent.game.lines_to_text(agent.game.new_initial_state(), [state.history()])
            print(*moves, flush=True)
            options.lines -= 1
        if not options.lines:
            return


if __name__ == "__main__":
    main()
