"""Lessons: positions with a known result under best play, to learn in addition to those of self-play."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from azero.games import Game, State
from azero.selfplay.data.policies import Policies, join_rows


class Lesson(NamedTuple):
    """A solved position."""

    state: State
    result: int  # WIN, DRAW or LOSS for the player to move
    keeping: frozenset[int]  # the actions that keep the result; empty if there is no policy target


class Lessons:
    """n >= 1 positions of one game with their results.

    The policy target is uniform over the actions that keep the result. If these are unknown, or the position is lost,
    there is no policy target: a row of zeros, which adds nothing to the loss.

    Attributes:
      share: share of lessons in a batch.
      states: [n] the game's state dtype.
      keeping: the policy targets: a count of 1 for each action that keeps the result.
      results: [n] int8, for the player to move.
    """

    def __init__(self, game: Game, lessons: Iterable[Lesson], share: float):
        lessons = list(lessons)
        self.game = game
        self.share = share
        self.states = np.array([each.state.record for each in lessons], game.rules.state_dtype)
        self.results = np.array([each.result for each in lessons], np.int8)
        keeping = [np.array(sorted(each.keeping), np.int16) for each in lessons]
        self.keeping: Policies = join_rows([(actions, np.ones_like(actions)) for actions in keeping])

    def __len__(self) -> int:
        return len(self.results)

    def results_to_learn(self, indices: np.ndarray) -> np.ndarray:
        """Returns probabilities of win, draw and loss for the player to move at `indices`, [B, 3] float32."""
        return np.eye(3, dtype=np.float32)[1 - self.results[indices]]
