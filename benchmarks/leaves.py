"""Measures what a search loses if many of its leaves wait for the net at the same time, by matches.

    python benchmarks/leaves.py --agent "connect_four(solve_nodes=0)@800" --games 800

A has `FIRST_LEAVES` leaves in a new tree, one more for every `--visits-per-leaf` visits of the root, and `--leaves` at
most. B has one leaf. Both have the same net and simulations. The Elo difference is A's, with a 95 % interval.
"""

import argparse

from azero import make_agent, play_match
from azero.arena.agents import names
from azero.arena.agents.search_agent import VISITS_PER_LEAF, SearchAgent
from azero.interfaces.terminal.show import show_match


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agent", default="connect_four(solve_nodes=0)@800")
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--visits-per-leaf", type=int, nargs="+", default=[VISITS_PER_LEAF])
    parser.add_argument("--games", type=int, default=800)
    parser.add_argument("--opening-plies", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for visits in options.visits_per_leaf:
        one = make_agent(options.agent, seed=options.seed + 1)
        many = with_leaves(make_agent(options.agent, seed=options.seed), options.leaves, visits)
        match = play_match(many, one, one.game, options.games, options.seed, options.opening_plies)
        print(f"{options.leaves} leaves, one per {visits} visits, against one leaf")
        print(show_match(match, None), flush=True)


def with_leaves(agent: SearchAgent, leaves: int, visits_per_leaf: int) -> SearchAgent:
    """Lets an agent's searches collect so many leaves of a tree at a time, on one thread."""
    names.BATCHES, names.VISITS_PER_LEAF = (leaves,), visits_per_leaf
    make_search = agent._make_search
    agent._make_search = lambda trees, nodes, _: make_search(trees, nodes, leaves)
    agent.name = f"{agent.name} with {leaves} leaves"
    return agent


if __name__ == "__main__":
    main()
