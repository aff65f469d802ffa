"""Lessons: positions with targets of their own, to learn in addition to those of self-play."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from azero.games import Game, State
from azero.selfplay.data.policies import Policies, join_rows


class Lesson(NamedTuple):
    """A position, with what is to be learned of it.

    Attributes:
      value: for the player to move, in [-1, 1]. Exactly 1, 0 and -1 are results: a win, a draw and a loss. Any other
        value q is a win with chance (1 + q) / 2, else a loss, as in the lambda-returns of self-play.
      policy: counts of actions, the policy target; empty if there is none.
    """

    state: State
    value: float
    policy: Mapping[int, int]


class Lessons:
    """n >= 1 positions of one game with their targets.

    Without a policy target, a position has a row of zeros, which adds nothing to the loss.

    Attributes:
      share: share of lessons in a batch.
      states: [n] the game's state dtype.
      policies: the policy targets.
      values: [n] float32, for the player to move.
    """

    def __init__(self, game: Game, lessons: Iterable[Lesson], share: float):
        lessons = list(lessons)
        self.game = game
        self.share = share
        self.states = np.array([each.state.record for each in lessons], game.rules.state_dtype)
        self.values = np.array([each.value for each in lessons], np.float32)
        rows = [sorted(each.policy.items()) for each in lessons]
        pairs = (np.array(row, np.int64).reshape(-1, 2) for row in rows)
        self.policies: Policies = join_rows([(pair[:, 0], pair[:, 1]) for pair in pairs])

    def __getstate__(self) -> dict[str, object]:
        """Leaves the game out, which is no plain data. Set `game` in the other process."""
        return vars(self) | {"game": None}

    def __len__(self) -> int:
        return len(self.values)

    @property
    def results(self) -> np.ndarray:
        """The likelier results, [n] int8, for the player to move: 1 win, 0 draw, -1 loss."""
        return np.sign(self.values).astype(np.int8)

    def results_to_learn(self, indices: np.ndarray) -> np.ndarray:
        """Returns probabilities of win, draw and loss for the player to move at `indices`, [B, 3] float32."""
        values = self.values[indices]
        is_draw = values == 0
        chances = np.stack([(1 + values) / 2, np.zeros_like(values), (1 - values) / 2], axis=1)
        chances[is_draw] = [0, 1, 0]
        return chances
