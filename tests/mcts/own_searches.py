"""Selection rules and root strategies as users write them, in files."""

MINE = '''
import math
from typing import NamedTuple

import numpy as np

from azero import GumbelRoot, Puct, VisitsRoot


class MyPuct(NamedTuple):
    """PUCT, written again."""

    c_puct: float = 1.25
    base: float = 19652.0
    factor: float = 1.0
    reduction: float = 0.2

    def is_sweeping(rule):
        return False

    def exploration(rule, parent_visits, depth, length):
        growth = math.log((1.0 + parent_visits + rule.base) / rule.base)
        return (rule.c_puct + rule.factor * growth) * math.sqrt(parent_visits)

    def first_play_value(rule, parent_value, visited_prior):
        return parent_value - rule.reduction * math.sqrt(visited_prior)

    def score(rule, exploration, visits, value, prior):
        return value + exploration * prior / (1 + visits)


class MyRoot(VisitsRoot):
    """AlphaZero's root."""
'''


def write_searches(folder, changes=(), more="", name="mine.py"):
    """Writes the file, with changes of its text, and with more classes at its end."""
    text = MINE + more
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    (folder / name).write_text(text)
