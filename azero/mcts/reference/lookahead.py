"""Looking ahead in plain Python, for people to read; tests hold `proving/lookahead.py` to it.

Read it from the bottom. Where the kernel keeps a stack, this calls itself.
"""

from typing import NamedTuple

from azero.games import LOSS, WIN, State
from azero.games.contract import sign_of
from azero.mcts.proving.lookahead import LONGEST_LINE


class Known(NamedTuple):
    """What is known of a position: the lowest and highest result that is possible for its mover, of that sign."""

    sign: int
    low: int
    high: int

    def for_first(self) -> tuple[int, int]:
        """Returns the same for the first player."""
        return (self.low, self.high) if self.sign > 0 else (-self.high, -self.low)


class OutOfPositions(Exception):
    """The limit on positions has come."""


class Lines:
    """Follows all lines from a position, until a number of positions has been seen."""

    def __init__(self, max_positions: int):
        self.max_positions = max_positions
        self.num_seen = 0

    def follow(self, state: State, limit: int, before: Known | None = None) -> tuple[int, int]:
        """Returns the first player's lowest and highest possible result by lines of `limit` plies; raises
        OutOfPositions. `before` is what is known so far of the position before.
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
            low, high = Known(sign, first_low, first_high).for_first()  # which turns it back as well
            known = Known(sign, max(known.low, low), max(known.high, high))
        return known.for_first()

    def judge(self, state: State, limit: int, before: Known) -> tuple[int, int]:
        """Returns the possible results of a position that may be the end of the game or of the line."""
        if state.is_terminal():
            return int(state.returns()[0]), int(state.returns()[0])
        return self.follow(state, limit, before) if limit else (LOSS, WIN)


def is_settled(known: Known, before: Known | None) -> bool:
    """Returns whether more about a position would change nothing in what is known of the one before."""
    if known.low == WIN:
        return True
    return before is not None and before.sign != known.sign and -known.high <= before.low and -known.low <= before.high


def after(state: State, action: int) -> State:
    """Returns the position after a move."""
    state = state.clone()
    state.apply_action(action)
    return state


def look_ahead(state: State, max_positions: int) -> dict[int, tuple[int, int]]:
    """Returns the first player's result, and the plies to it, after each move for which that can be told."""
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
