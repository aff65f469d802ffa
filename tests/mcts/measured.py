"""A game and a rule with which a search on a table and one on a tree take the same way: nothing is ever equal."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from azero.compiler.rng import random_unit
from azero.games.p_game.rules import PGame

DIGEST = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]


class MeasuredPGame(PGame):
    """A P-game whose rollouts give any number of [-1, 1), so that children with equal visits differ in value."""

    file_name = "measured_p_game"
    source_digest = DIGEST  # compiled code of an earlier edition of this file is not this one's

    def rollout(game, state, legal, rng, max_plies):
        return 2.0 * random_unit(rng) - 1.0


class OwnVisits(NamedTuple):
    """Explores by a child's visits alone: a table sums children's visits, a tree counts the parent's own."""

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
