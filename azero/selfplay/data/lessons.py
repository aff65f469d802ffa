"""Lessons: positions whose result under best play is known, to learn beside those of self-play."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from azero.games import Game, State
from azero.selfplay.data.auxiliary import AuxiliaryHeads, AuxiliaryTargets, unknown_targets


class Lesson(NamedTuple):
    """A position, and what is known of it."""

    state: State
    result: int  # WIN, DRAW or LOSS for the player to move
    keeping: frozenset[int]  # the actions that keep the result; empty where they are not to be learnt


class Lessons:
    """Positions of one game with their results, n in all, at least one.

    The policy to learn is uniform over the actions that keep the result. Where these are not known, or all is lost,
    there is none: zeros, which cost nothing.

    Attributes:
      share: of a batch that is lessons.
      states: [n] the game's state dtype
      keeping: [n, A] uint16, 1 for the actions that keep the result: visits, to whoever makes a policy of them
      results: [n] int8, for the player to move
    """

    def __init__(self, game: Game, lessons: Iterable[Lesson], share: float):
        lessons = list(lessons)
        self.game = game
        self.share = share
        self.states = np.array([each.state.record for each in lessons], game.rules.state_dtype)
        self.results = np.array([each.result for each in lessons], np.int8)
        self.keeping = np.zeros((len(lessons), game.num_actions), np.uint16)
        for row, each in zip(self.keeping, lessons, strict=True):
            row[list(each.keeping)] = 1

    def __len__(self) -> int:
        return len(self.results)

    def results_to_learn(self, indices: np.ndarray) -> np.ndarray:
        """Returns probabilities of win, draw and loss for the player to move at `indices`, [B, 3] float32."""
        return np.eye(3, dtype=np.float32)[1 - self.results[indices]]

    def auxiliary_targets(self, indices: np.ndarray, heads: AuxiliaryHeads) -> AuxiliaryTargets:
        """Returns the targets of auxiliary heads at `indices` ([B] int64).

        Known are short-term values alone: under best play all values to come are the result.
        """
        values = self.results[indices].astype(np.float32)[:, None]
        unknown = unknown_targets(len(indices), self.game, heads)
        return unknown._replace(short_term=np.repeat(values, len(heads.horizons), axis=1))
