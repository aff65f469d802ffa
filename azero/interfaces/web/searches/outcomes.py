"""Win, draw and loss of a position: the draws that the net expects, and the value that the search has found."""

import numpy as np

from azero.arena.agents.agent import Agent
from azero.games import State


def draws_of(agent: Agent, state: State) -> float | None:
    """Returns the share of draws that the net alone expects; None for an agent without a net.

    The first call imports torch, which takes a second or two.
    """
    if agent.net_alone is None:
        return None
    _, logits = agent.net_alone(state.planes()[None])
    shares = np.exp(logits[0] - logits[0].max())
    return float(shares[1] / shares.sum())


def outcomes_of(draws: float, value: float) -> list[float]:
    """Returns the shares of wins of the first player, draws, and wins of the second.

    With v the value and d the share of draws, at most 1 - |v|:

        wins = (1 - d + v) / 2,    losses = (1 - d - v) / 2

    Args:
      draws: in [0, 1].
      value: in [-1, 1], of the search, for the first player.
    """
    d = min(draws, 1 - abs(value))
    return [round(each, 4) + 0.0 for each in ((1 - d + value) / 2, d, (1 - d - value) / 2)]
