"""A game and a rule with which searches in a table and in a tree take the same way, because no scores are equal."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from azero.compiler.rng import random_unit
from azero.games.p_game.rules import PGame

DIGEST = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]


class MeasuredPGame(PGame):
    """A P-game whose rollouts return any number in [-1, 1), so that children with equal visits differ in value."""

    file_name = "measured_p_game"
    source_digest = DIGEST  # separates compiled code of different versions of this file

    def rollout(game, state, legal, rng, max_plies):
        return 2.0 * random_unit(rng) - 1.0


class OwnVisits(NamedTuple):
    """Explores only by a child's visits, because table and tree count the parent's visits differently."""

    c: float = 0.5

    source_digest = DIGEST

    def is_sweeping(selection):
        return True

    def exploration(selection, parent_visits, depth, length):
        return selection.c

    def first_play_value(selection, parent_value, visited_prior):
        return 0.0

    def score(selection, exploration, visits, value, prior):
        return value + exploration / visits
