"""Plays an agent against every reply of every opponent at tic-tac-toe, as either side; counts how the lines end.

python notes/scripts/tic_tac_toe_lines.py tic_tac_toe@50
"""

import argparse

from azero import Agent, State, make_agent


def count_lines(agent: Agent, state: State, side: int, chosen: dict[int, int]) -> dict[str, int]:
    """Returns the number of lines from `state` that the agent wins, draws and loses."""
    if state.is_terminal():
        result = state.returns()[side]
        return {"won": int(result > 0), "drawn": int(result == 0), "lost": int(result < 0)}
    actions = state.legal_actions()
    if state.current_player() == side:
        key = state.hash_key()
        if key not in chosen:
            chosen[key] = agent.suggest(state).action
        actions = [chosen[key]]
    total = {"won": 0, "drawn": 0, "lost": 0}
    for action in actions:
        after = state.clone()
        after.apply_action(action)
        for result, count in count_lines(agent, after, side, chosen).items():
            total[result] += count
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent", nargs="?", default="tic_tac_toe@50")
    agent = make_agent(parser.parse_args().agent, game="tic_tac_toe")
    chosen: dict[int, int] = {}
    for side, name in enumerate(("first", "second")):
        lines = count_lines(agent, agent.game.new_initial_state(), side, chosen)
        print(f"{agent.name} moving {name}: " + ", ".join(f"{count} lines {result}" for result, count in lines.items()))


if __name__ == "__main__":
    main()
