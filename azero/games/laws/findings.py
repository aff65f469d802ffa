"""What a check of a game finds: the positions it looks at, what it remembers of them, the line that tells a fault."""

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from azero.errors import BadInput
from azero.games.state import Game, State

if TYPE_CHECKING:
    from azero.games.laws.enumeration import Enumeration


class Broken(BadInput):
    """A law does not hold; the message says how, and after which moves."""


class Notes:
    """What a check remembers from game to game: the positions it has met, and how long it may take.

    `moves_a_game` is how many moves the law of keys follows below the positions of each game, the last ones first.
    """

    def __init__(self, num_positions: int = 1, seconds: float = math.inf, moves_a_game: int = 1000) -> None:
        self.enumeration: Enumeration | None = None
        self.moves_a_game = moves_a_game
        self.num_passed = self.num_looked = 0
        self._num_positions, self._seconds, self._begin = num_positions, seconds, time.monotonic()

    def is_in_time(self) -> bool:
        """Returns whether the check is as far as it should be by now."""
        allowed = self._seconds * max(0.5, self.num_passed / self._num_positions)
        return time.monotonic() - self._begin <= allowed

    def has_time(self) -> bool:
        """Returns whether to look closely at the next position; those left out are spread over all there are to pass.

        None is left out in the first half of the time.
        """
        is_looking = self.is_in_time()
        self.num_passed += 1
        self.num_looked += is_looking
        return is_looking


def hold(is_kept: object, what: str, game: Game, actions: list[int]) -> None:
    """Raises Broken where a law is not kept after `actions`."""
    if not is_kept:
        raise Broken(f"{what}, after {record_of(game, actions) or 'no move'}")


def hold_pair(is_kept: object, what: str, game: Game, actions: list[int], others: list[int]) -> None:
    """Raises Broken where two positions, after `actions` and after `others`, do not go together."""
    if not is_kept:
        one, other = (record_of(game, each) or "no move" for each in (actions, others))
        raise Broken(f"{what}, after {one} and after {other}")


def record_of(game: Game, actions: list[int]) -> str:
    """Returns the moves in the game's notation."""
    state, texts = game.new_initial_state(), []
    for action in actions:
        texts.append(game.action_to_text(state, action))
        state.apply_action(action)
    return " ".join(texts)


def walk_game(game: Game, actions: list[int]) -> Iterator[tuple[State, list[int], int | None]]:
    """Yields every position of a game with the actions before it and the one played, which is None at the end."""
    state = game.new_initial_state()
    for ply, action in enumerate(actions):
        yield state, actions[:ply], action
        state.apply_action(action)
    yield state, actions, None


def looks_of(state: State) -> tuple:
    """Returns all that can be seen of a position and its past."""
    seen = state.legal_actions(), state.current_player(), state.returns(), state.history(), state.hash_key(), str(state)
    return *seen, state.final_score(), state.planes().tobytes(), state.record.tobytes()
