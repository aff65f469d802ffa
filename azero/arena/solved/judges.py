"""Judges decide by solving whether a move keeps a position's result, and check given scores."""

from abc import ABC, abstractmethod
from collections.abc import Collection

from azero.errors import BadInput
from azero.exact.connect_four import ConnectFourSolver
from azero.exact.solver import solving
from azero.games import DRAW, LOSS, WIN, Game, State
from azero.games.connect_four.rules import ConnectFour
from azero.system.threads import Slices, finish

RESULT_WORDS = {LOSS: "loses", DRAW: "draws", WIN: "wins"}
"""Verbs for messages, by the result for the player to move."""


def result_of(score: float) -> int:
    """Returns WIN, DRAW or LOSS: the score's sign."""
    return (score > 0) - (score < 0)


class Judge(ABC):
    """Solves positions of one game within limits on nodes.

    Attributes:
      node_limit: limit for the decision on a move.
      check_limit: limit for the check of a score, and for the check of all moves of a position together.
      review_limit: limit for a position of a game that is reviewed.
      nodes_per_us: about the nodes that it visits in a microsecond.
      num_nodes: nodes that it has visited in all.
    """

    node_limit: int
    check_limit: int
    review_limit: int
    nodes_per_us: int
    num_nodes = 0

    @abstractmethod
    def _asking(self, state: State, player: int, result: int, node_limit: int) -> Slices[bool | None]:
        """Finds whether `player` gets `result` or more if the game is not over; None: not known within the limit."""

    def _is_at_least(self, state: State, player: int, result: int, node_limit: int) -> bool | None:
        return finish(self._asking(state, player, result, node_limit))

    def _check_score(self, state: State, score: float) -> None:  # noqa: B027, most games allow any score
        """Raises BadInput if the rules exclude this score."""

    def result(self, state: State, node_limit: int) -> int | None:
        """Returns WIN, DRAW or LOSS for the player to move, or None if it is unknown. The game is not over."""
        return finish(self.solving(state, node_limit))

    def solving(self, state: State, node_limit: int) -> Slices[int | None]:
        """As `result`, in slices. A judge does one thing at a time: it is over before the next one, or given up."""
        player = state.current_player()
        for result in (WIN, DRAW):
            is_at_least = yield from self._asking(state, player, result, node_limit)
            if is_at_least or is_at_least is None:
                return result if is_at_least else None
        return LOSS

    def keeps(self, state: State, action: int, result: int) -> bool | None:
        """Returns whether the player to move still gets `result` after `action`; None if unknown."""
        return self._leads_to(_after(state, action), state.current_player(), result, self.node_limit)

    def _leads_to(self, after: State, player: int, result: int, node_limit: int) -> bool | None:
        """Returns whether `player` gets `result` or more, whether the game is over or not; None if unknown."""
        if after.is_terminal():
            return after.returns()[player] >= result
        return self._is_at_least(after, player, result, node_limit)

    def check(self, state: State, score: float) -> None:
        """Raises BadInput if the rules or a short search contradict the score for the player to move."""
        player, result = state.current_player(), result_of(score)
        winning = _win_at_once(state) if result < WIN else None
        if winning:
            raise BadInput(f"score {score:g} should be positive: {winning} wins at once")
        self._check_score(state, score)
        is_less = self._is_at_least(state, player, result, self.check_limit) is False
        is_more = result < WIN and self._is_at_least(state, player, result + 1, self.check_limit)
        if is_less or is_more:
            known = "less" if is_less else "more"
            says = RESULT_WORDS[result]
            raise BadInput(
                f"by its score {score:g} the player to move {says}; by a solver the position is worth {known}"
            )

    def check_moves(self, state: State, result: int, keeping: Collection[int]) -> None:
        """Raises BadInput if the rules or a short search contradict that exactly the actions `keeping` keep `result`.

        The moves share the search's limit. Immediate wins are always found.
        """
        player, legal = state.current_player(), state.legal_actions()
        for action in legal:
            move, after = state.game.action_to_text(state, action), _after(state, action)
            is_said, says = action in keeping, f"{RESULT_WORDS[result]} by the listed moves"
            reply = _win_at_once(after) if is_said and after.current_player() == 1 - player else None
            if reply:
                raise BadInput(f"{move} {says}, but then {reply} wins at once")
            if not is_said and after.returns()[player] > 0:
                raise BadInput(f"{move} is a mistake by the listed moves, but it wins at once")
            is_so = self._leads_to(after, player, result, self.check_limit // len(legal))
            if is_said and is_so is False:
                raise BadInput(f"{move} {says}; by a solver it does not")
            if is_so and not is_said:
                raise BadInput(f"{move} is a mistake by the listed moves; by a solver it {RESULT_WORDS[result]}")


def _after(state: State, action: int) -> State:
    """Returns the position after an action."""
    after = state.clone()
    after.apply_action(action)
    return after


def _win_at_once(state: State) -> str | None:
    """Returns a move that wins at once for the player to move, or None."""
    player = state.current_player()
    wins = (action for action in state.legal_actions() if _after(state, action).returns()[player] > 0)
    return next((state.game.action_to_text(state, action) for action in wins), None)


class ConnectFourJudge(Judge):
    """Solves Connect Four."""

    node_limit = 1 << 27
    check_limit = 1 << 15
    review_limit = 1 << 22
    nodes_per_us = 4

    def __init__(self, rules: ConnectFour):
        self._rules = rules
        self._solver = ConnectFourSolver(rules, log_entries=24)

    def _asking(self, state: State, player: int, result: int, node_limit: int) -> Slices[bool | None]:
        is_own = state.current_player() == player
        answer = yield from self._solver.asking(state, result if is_own else 1 - result, node_limit)
        self.num_nodes += self._solver.num_nodes
        return answer if is_own or answer is None else not answer

    def _check_score(self, state: State, score: float) -> None:
        """Scores are Pons's: a win that leaves the winner n stones scores n + 1."""
        num_empty = self._rules.max_plies - len(state.history())
        low, high = -(num_empty // 2), (num_empty + 1) // 2
        if not (low <= score <= high and score == int(score)):
            raise BadInput(
                f"score {score:g} is impossible: with {num_empty} empty cells it is a whole number from {low} to {high}"
            )


class AlphaBetaJudge(Judge):
    """Solves any game by alpha-beta."""

    node_limit = 1 << 21
    check_limit = 1 << 13
    review_limit = 1 << 19
    nodes_per_us = 1

    def __init__(self) -> None:
        self._solved: dict[tuple[int | bytes, int], float | None] = {}

    def _asking(self, state: State, player: int, result: int, node_limit: int) -> Slices[bool | None]:
        question = state.position_key(), node_limit
        if question not in self._solved:
            solution = yield from solving(state, node_limit=node_limit)
            self._solved[question], self.num_nodes = solution.value, self.num_nodes + solution.num_nodes
        value = self._solved[question]
        return None if value is None else (value if player == 0 else -value) >= result


def judge_for(game: Game) -> Judge:
    """Returns the judge for positions of this game."""
    rules = game.rules
    if isinstance(rules, ConnectFour) and rules.columns * (rules.rows + 1) <= 64:
        return ConnectFourJudge(rules)
    return AlphaBetaJudge()
