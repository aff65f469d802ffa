"""Connect Four from the start against a perfect player: who wins, and at which ply.

    pip install bitbully==0.0.79 bitbully-databases==0.0.2
    python notes/scripts/against_perfect.py connect_four@600

The perfect player is that of `known_openings.py`. Of moves with equal scores it draws one, so games of several seeds
differ. The first player can win at ply 41 at the latest.
"""

import argparse
import random

from known_openings import GAME, Perfect

from azero import make_agent
from azero.arena.agents.agent import Agent


def play(agent: Agent, perfect: Perfect, agent_is_first: bool, rng: random.Random) -> tuple[int, float]:
    """Plays a game; returns its number of plies, and the agent's result."""
    state = GAME.new_initial_state()
    while not state.is_terminal():
        if (state.current_player() == 0) == agent_is_first:
            action = agent.suggest(state).action
        else:
            scores = perfect.scores(state)
            action = rng.choice([column for column, score in enumerate(scores) if score == max(scores)])
        state.apply_action(action)
    return len(state.history()), state.returns()[0 if agent_is_first else 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("agent")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    perfect = Perfect()
    for agent_is_first in (True, False):
        for seed in range(options.seeds):
            agent = make_agent(options.agent, GAME, seed=seed)
            plies, result = play(agent, perfect, agent_is_first, random.Random(seed))
            print(f"{options.agent} moves {'first' if agent_is_first else 'second'}: {result:+.0f} at ply {plies}")


if __name__ == "__main__":
    main()
