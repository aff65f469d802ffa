"""Tools of the checks of a game: the positions of a game, notes about them, and the message for a broken law."""

import math
import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from azero.errors import BadInput
from azero.games.state import Game, State

if TYPE_CHECKING:
    from azero.games.laws.keys import Enumeration

_WIDTH = 90  # characters of boards side by side


class Broken(BadInput):
    """A law is broken. The message says how, and after which moves.

    Attributes:
      game: the game.
      lines: the actions that lead to the positions where the law is broken; none if it is broken in no position.
    """

    def __init__(self, what: str, game: Game, *lines: list[int]):
        after = [f"after {record_of(game, each) or 'no move'}" for each in lines]
        super().__init__(f"{what}, {' and '.join(after)}" if after else what)
        self.game, self.lines = game, lines

    def boards(self) -> list[str]:
        """Returns the positions as the game draws them; no board that `draw` fails to draw."""
        return [board for each in self.lines if (board := board_after(self.game, each))]


class Notes:
    """Notes of a check for all its games: the known positions, and the time that is left.

    Attributes:
      enumeration: the positions that the law of keys knows, from its first game on; `None` before.
      moves_a_game: the most moves that the law of keys follows from the positions of a game, the last position first.
      num_passed: positions that the check has come to.
      num_looked: positions that it has checked.
      remark: what the check has seen that breaks no law.
    """

    def __init__(
        self,
        num_positions: int = 1,
        seconds: float = math.inf,
        moves_a_game: int = 1000,
        enumeration: "Enumeration | None" = None,
    ) -> None:
        self.enumeration = enumeration
        self.moves_a_game = moves_a_game
        self.num_passed = self.num_looked = 0
        self.remark = ""
        self._num_positions, self._seconds, self._begin = num_positions, seconds, time.process_time()

    def is_in_time(self) -> bool:
        """Returns whether the check is on schedule."""
        allowed = self._seconds * max(0.5, self.num_passed / self._num_positions)
        return time.process_time() - self._begin <= allowed

    def has_time(self) -> bool:
        """Returns whether there is time to check the next position.

        In the first half of the time every position is checked. Later some are skipped, spread over all positions. One
        is checked in any case, so that a law is not called kept where nothing was looked at.
        """
        is_looking = self.num_looked == 0 or self.is_in_time()
        self.num_passed += 1
        self.num_looked += is_looking
        return is_looking


def hold(is_kept: object, what: str, game: Game, *lines: list[int]) -> None:
    """Raises Broken unless the law is kept by the positions after these lines, one or more."""
    if not is_kept:
        raise Broken(what, game, *lines)


def state_after(game: Game, actions: list[int]) -> State:
    """Returns the position after some actions."""
    state = game.new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


def board_after(game: Game, actions: list[int]) -> str:
    """Returns the position after some actions as the game draws it; empty if it cannot."""
    try:
        return state_after(game, actions).draw()
    except BadInput:  # another law is about `draw`
        return ""


def beside(boards: Sequence[str]) -> list[str]:
    """Returns the lines of boards: side by side if they are narrow, else one below the other."""
    columns = [board.splitlines() for board in boards]
    widths = [max(map(len, column), default=0) for column in columns]
    if sum(widths) > _WIDTH:
        return [line for column in columns for line in ("", *column)][1:]
    rows = zip_longest(*columns, fillvalue="")
    return ["    ".join(f"{text:<{width}}" for text, width in zip(row, widths, strict=True)) for row in rows]


def record_of(game: Game, actions: list[int]) -> str:
    """Returns the moves in the game's notation."""
    state, texts = game.new_initial_state(), []
    for action in actions:
        texts.append(game.action_to_text(state, action))
        state.apply_action(action)
    return " ".join(texts)


def walk_game(game: Game, actions: list[int]) -> Iterator[tuple[State, list[int], int | None]]:
    """Yields each position of a game, the actions before it, and the action played there, which is None at the end."""
    state = game.new_initial_state()
    for ply, action in enumerate(actions):
        yield state, actions[:ply], action
        state.apply_action(action)
    yield state, actions, None


def looks_of(state: State) -> tuple:
    """Returns everything that a position's methods show, and its record."""
    seen = state.legal_actions(), state.current_player(), state.returns(), state.history(), state.hash_key(), str(state)
    return *seen, state.final_score(), state.planes().tobytes(), state.record.tobytes()
