"""Judges: whether a move keeps a position's result, by solving what it leads to; and whether scores can be true."""

from abc import ABC, abstractmethod
from collections.abc import Collection

from azero.errors import BadInput
from azero.exact.connect_four import ConnectFourSolver
from azero.exact.solver import solve
from azero.games import DRAW, LOSS, WIN, Game, State
from azero.games.connect_four.rules import ConnectFour

RESULT_WORDS = {LOSS: "loses", DRAW: "draws", WIN: "wins"}
"""What the player to move does, by result."""


def result_of(score: float) -> int:
    """Returns WIN, DRAW or LOSS: the score's sign."""
    return (score > 0) - (score < 0)


class Judge(ABC):
    """Solves positions of one game, as far as its limits on nodes reach.

    Attributes:
      node_limit: of a move's judgement.
      check_limit: of a score's check, and of that of all the moves of a position together.
    """

    node_limit: int
    check_limit: int

    @abstractmethod
    def _is_at_least(self, state: State, player: int, result: int, node_limit: int) -> bool | None:
        """Returns whether `player` gets `result` or more in a position that goes on; None: not within the limit."""

    def _check_score(self, state: State, score: float) -> None:  # noqa: B027, of most games any score can be
        """Raises BadInput where no game that goes on from here can have this score."""

    def keeps(self, state: State, action: int, result: int) -> bool | None:
        """Returns whether the player to move still gets `result` after `action`; None: not known."""
        return self._leads_to(_after(state, action), state.current_player(), result, self.node_limit)

    def _leads_to(self, after: State, player: int, result: int, node_limit: int) -> bool | None:
        """Returns whether `player` gets `result` or more in a position that may be over; None: not within the limit."""
        if after.is_terminal():
            return after.returns()[player] >= result
        return self._is_at_least(after, player, result, node_limit)

    def check(self, state: State, score: float) -> None:
        """Raises BadInput where the rules, or a short search, contradict the score of the player to move."""
        player, result = state.current_player(), result_of(score)
        winning = _win_at_once(state) if result < WIN else None
        if winning:
            raise BadInput(f"the score {score:g} should be positive: {winning} wins at once")
        self._check_score(state, score)
        is_less = self._is_at_least(state, player, result, self.check_limit) is False
        is_more = result < WIN and self._is_at_least(state, player, result + 1, self.check_limit)
        if is_less or is_more:
            known = "less" if is_less else "more"
            says = RESULT_WORDS[result]
            raise BadInput(
                f"the score {score:g} says that the player to move {says}; solved, the position is worth {known}"
            )

    def check_moves(self, state: State, result: int, keeping: Collection[int]) -> None:
        """Raises BadInput where the rules, or a short search, contradict that just the actions `keeping` keep `result`.

        The search shares its limit among the moves; wins at once are seen whatever it is.
        """
        player, legal = state.current_player(), state.legal_actions()
        for action in legal:
            move, after = state.game.action_to_text(state, action), _after(state, action)
            is_said, says = action in keeping, f"{RESULT_WORDS[result]} by the moves listed"
            reply = _win_at_once(after) if is_said and after.current_player() == 1 - player else None
            if reply:
                raise BadInput(f"{move} {says}, but then {reply} wins at once")
            if not is_said and after.returns()[player] > 0:
                raise BadInput(f"{move} is a mistake by the moves listed, but it wins at once")
            is_so = self._leads_to(after, player, result, self.check_limit // len(legal))
            if is_said and is_so is False:
                raise BadInput(f"{move} {says}; solved, it does not")
            if is_so and not is_said:
                raise BadInput(f"{move} is a mistake by the moves listed; solved, it {RESULT_WORDS[result]}")


def _after(state: State, action: int) -> State:
    """Returns the position that an action leads to."""
    after = state.clone()
    after.apply_action(action)
    return after


def _win_at_once(state: State) -> str | None:
    """Returns a move that wins the game there and then for the player to move, or None."""
    player = state.current_player()
    wins = (action for action in state.legal_actions() if _after(state, action).returns()[player] > 0)
    return next((state.game.action_to_text(state, action) for action in wins), None)


class ConnectFourJudge(Judge):
    """Solves Connect Four."""

    node_limit = 1 << 27
    check_limit = 1 << 15

    def __init__(self, rules: ConnectFour):
        self._rules = rules
        self._solver = ConnectFourSolver(rules, log_entries=24)

    def _is_at_least(self, state: State, player: int, result: int, node_limit: int) -> bool | None:
        if state.current_player() == player:
            return self._solver.is_at_least(state, result, node_limit)
        is_opponents = self._solver.is_at_least(state, 1 - result, node_limit)
        return None if is_opponents is None else not is_opponents

    def _check_score(self, state: State, score: float) -> None:
        """A win with the last but n-th of one's own stones scores n + 1, as Pons has it."""
        num_empty = self._rules.max_plies - len(state.history())
        low, high = -(num_empty // 2), (num_empty + 1) // 2
        if not (low <= score <= high and score == int(score)):
            raise BadInput(
                f"the score {score:g} cannot be: with {num_empty} cells empty it is whole, from {low} to {high}"
            )


class AlphaBetaJudge(Judge):
    """Solves any game by alpha-beta."""

    node_limit = 1 << 21
    check_limit = 1 << 13

    def __init__(self) -> None:
        self._solved: dict[tuple[tuple[int, ...], int], float | None] = {}

    def _is_at_least(self, state: State, player: int, result: int, node_limit: int) -> bool | None:
        question = tuple(state.history()), node_limit
        if question not in self._solved:
            self._solved[question] = solve(state, node_limit=node_limit).value
        value = self._solved[question]
        return None if value is None else (value if player == 0 else -value) >= result


def judge_for(game: Game) -> Judge:
    """Returns a judge of positions of this game."""
    rules = game.rules
    if isinstance(rules, ConnectFour) and rules.columns * (rules.rows + 1) <= 64:
        return ConnectFourJudge(rules)
    return AlphaBetaJudge()
