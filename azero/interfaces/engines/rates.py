"""Win rates, as protocols tell values, and how sure they are."""

import math

from azero.arena.agents.suggestion import Move


def win_rate(value: float) -> float:
    """Returns the share of wins, in [0, 1], of a value in [-1, 1]; a draw is half a win."""
    return min(max((1.0 + value) / 2.0, 0.0), 1.0)


def lower_bound(move: Move) -> float:
    """Returns a lower bound of a move's win rate; the win rate itself where it is proven."""
    return win_rate(move.value) if move.proven else bound_of(win_rate(move.value), move.visits)


def bound_of(rate: float, visits: int) -> float:
    """Returns the lower end of a 95 % interval of a win rate, as if each visit were a game (Wilson 1927)."""
    if visits == 0:
        return 0.0
    z = 1.96
    centre = rate + z * z / (2 * visits)
    spread = z * math.sqrt(rate * (1 - rate) / visits + z * z / (4 * visits * visits))
    return max(0.0, centre - spread) / (1 + z * z / visits)
