"""Look-ahead in plain Python, for people to read. Tests compare `proving/lookahead.py` with it.

Read it from the bottom up. This version is recursive; the kernel keeps a stack.
"""

from typing import NamedTuple

from azero.games import LOSS, WIN, State
from azero.games.contract import sign_of
from azero.mcts.proving.lookahead import LONGEST_LINE


class Known(NamedTuple):
    """Bounds on a position's result: the lowest and the highest possible, for the player of `sign`, who moves."""

    sign: int
    low: int
    high: int

    def for_first(self) -> tuple[int, int]:
        """Returns the bounds for the first player."""
        return (self.low, self.high) if self.sign > 0 else (-self.high, -self.low)


class OutOfPositions(Exception):
    """The limit on positions is reached."""


class Lines:
    """Follows all lines from a position, up to a limit on positions."""

    def __init__(self, max_positions: int):
        self.max_positions = max_positions
        self.num_seen = 0

    def follow(self, state: State, limit: int, before: Known | None = None) -> tuple[int, int]:
        """Returns the first player's lowest and highest possible result, after lines of `limit` plies.

        Args:
          before: the bounds found so far for the position one ply earlier.

        Raises:
          OutOfPositions: the limit on positions is reached.
        """
        sign = sign_of(state.current_player())
        positions = [after(state, action) for action in state.legal_actions()]
        for position in positions if limit > 1 else []:
            self.num_seen += 1
            if position.is_terminal() and position.returns()[0] == sign:
                return sign, sign
        known = Known(sign, LOSS, LOSS)
        for position in positions:
            if is_settled(known, before):
                return known._replace(high=WIN).for_first()
            if self.num_seen >= self.max_positions:
                raise OutOfPositions
            self.num_seen += 1
            first_low, first_high = self.judge(position, limit - 1, known)
            low, high = Known(sign, first_low, first_high).for_first()  # the same flip converts back to the mover
            known = Known(sign, max(known.low, low), max(known.high, high))
        return known.for_first()

    def judge(self, state: State, limit: int, before: Known) -> tuple[int, int]:
        """Returns the bounds of a position, which may be the end of the game or of the line."""
        if state.is_terminal():
            return int(state.returns()[0]), int(state.returns()[0])
        return self.follow(state, limit, before) if limit else (LOSS, WIN)


def is_settled(known: Known, before: Known | None) -> bool:
    """Returns whether tighter bounds of a position could not change those of the position one ply earlier."""
    if known.low == WIN:
        return True
    return before is not None and before.sign != known.sign and -known.high <= before.low and -known.low <= before.high


def after(state: State, action: int) -> State:
    """Returns the position after a move."""
    state = state.clone()
    state.apply_action(action)
    return state


def look_ahead(state: State, max_positions: int) -> dict[int, tuple[int, int]]:
    """Returns, for each move with a provable result, the first player's result and the plies to it after the move."""
    sign = sign_of(state.current_player())
    positions = {action: after(state, action) for action in state.legal_actions()}
    proven = {action: (int(each.returns()[0]), 0) for action, each in positions.items() if each.is_terminal()}
    if any(result == sign for result, _ in proven.values()):
        return proven
    num_seen = 0
    for limit in range(1, LONGEST_LINE + 1):
        for action in [each for each in positions if each not in proven] if max_positions else []:
            lines = Lines(max_positions - num_seen)
            try:
                low, high = lines.follow(positions[action], limit)
            except OutOfPositions:
                return proven
            num_seen += lines.num_seen
            if low == high:
                proven[action] = low, limit
            if low == high == sign or num_seen >= max_positions:
                return proven
    return proven
