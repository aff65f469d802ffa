"""Win, draw and loss of a position: the draws that the net expects, and the value that the search has found."""

import numpy as np

from azero.arena.agents.agent import Agent
from azero.games import State
from azero.games.contract import sign_of


def outcomes_of(agent: Agent, state: State, value: float) -> list[float] | None:
    """Returns the shares of wins of the first player, draws, and wins of the second; None for an agent without a net.

    With v the first player's value and d the net's share of draws, at most 1 - |v|:

        wins = (1 - d + v) / 2,    losses = (1 - d - v) / 2

    Args:
      value: in [-1, 1], of the search, for the player to move.
    """
    if agent.net_alone is None:
        return None
    _, logits = agent.net_alone(state.planes()[None])
    shares = np.exp(logits[0] - logits[0].max())
    v = value * sign_of(state.current_player())
    d = min(float(shares[1] / shares.sum()), 1 - abs(v))
    return [round(each, 4) + 0.0 for each in ((1 - d + v) / 2, d, (1 - d - v) / 2)]
