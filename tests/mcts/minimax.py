"""Best play by exhaustive search, with which proofs are compared."""

from fractions import Fraction

from azero.games import State


class Minimax:
    """Solves positions of one game, and keeps the results."""

    def __init__(self) -> None:
        self.solved: dict[int, tuple[int, int]] = {}  # result and plies, by key

    def solve(self, state: State) -> tuple[int, int]:
        """Returns the first player's result, and its plies: fewest for wins, most for losses and draws."""
        if state.is_terminal():
            return int(state.returns()[0]), 0
        key = state.hash_key()
        if key not in self.solved:
            sign = 1 - 2 * state.current_player()
            answers = [self.solve(after) for _, after in moves_of(state)]
            result = sign * max(sign * result for result, _ in answers)
            lengths = [length for each, length in answers if each == result]
            self.solved[key] = result, 1 + (min(lengths) if result == sign else max(lengths))
        return self.solved[key]

    def best_actions(self, state: State) -> list[int]:
        """Returns the actions that keep the result."""
        result = self.solve(state)[0]
        return [action for action, after in moves_of(state) if self.solve(after)[0] == result]


class RandomPlay:
    """Exact expectations of games in which both players move at random."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Fraction, Fraction, Fraction]] = {}

    def expect(self, state: State) -> tuple[Fraction, Fraction, Fraction]:
        """Returns the probability of a win of the first player, that of a draw, and the mean number of plies left."""
        if state.is_terminal():
            return Fraction(state.returns()[0] == 1), Fraction(state.returns()[0] == 0), Fraction(0)
        key = state.hash_key()
        if key not in self._known:
            win, draw, plies = zip(*(self.expect(after) for _, after in moves_of(state)), strict=True)
            count = len(win)
            self._known[key] = sum(win) / count, sum(draw) / count, 1 + sum(plies) / count
        return self._known[key]


def moves_of(state: State) -> list[tuple[int, State]]:
    """Returns each legal action with the position after it."""
    moves = []
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        moves.append((action, after))
    return moves
