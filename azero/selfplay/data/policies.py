"""Policy targets: for each position the counts of the actions that have any.

A row of all actions would be mostly zeros. In a game with 4,672 actions, of which 40 are legal, such a row has 9,344
bytes; the counts of legal actions, with the actions' numbers, have at most 160.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.games import Game


class Policies(NamedTuple):
    """The policy targets of n positions, with v counts in all, position after position."""

    starts: np.ndarray  # [n + 1] int64, the place of each position's first count; the last is v
    actions: np.ndarray  # [v] int16
    counts: np.ndarray  # [v] uint16, 1 or more

    def positions(self) -> np.ndarray:
        """Returns the position of each count, [v] int64."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def row(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the actions [k] and counts [k] of a position."""
        own = slice(self.starts[position], self.starts[position + 1])
        return self.actions[own], self.counts[own]

    def probabilities(self, game: Game, indices: np.ndarray, symmetries: np.ndarray) -> np.ndarray:
        """Returns the policies of the positions at `indices`, each in its symmetry; both are [B] int64.

        The result is [B, A] float32. Rows sum to 1; the row of a position without counts is zero.
        """
        rows, work = np.empty((len(indices), game.num_actions), np.float32), np.zeros(game.num_actions, np.uint16)
        _fill(game.training_symmetries.actions, self, indices, symmetries, rows, work)
        return rows


def policies_of(num_counts: np.ndarray, actions: np.ndarray, counts: np.ndarray) -> Policies:
    """Returns the policies of n positions that have `num_counts` ([n]) counts each."""
    return Policies(np.concatenate([[0], np.cumsum(num_counts, dtype=np.int64)]), actions, counts)


def join_rows(rows: Sequence[tuple[np.ndarray, np.ndarray]]) -> Policies:
    """Returns the policies of n >= 1 positions from the actions [k] and the counts [k] of each."""
    actions, counts = (np.concatenate(arrays) for arrays in zip(*rows, strict=True))
    lengths = np.array([len(each) for each, _ in rows])
    return policies_of(lengths, actions.astype(np.int16), counts.astype(np.uint16))


@subroutine
def pack_target(nodes, target, actions, counts, begin):
    """Writes the counts of `target` ([A] uint16) that are not 0 from place `begin`; returns the place after the last.

    Only the root's moves can have counts.
    """
    place, root = begin, nodes[0]
    for child in range(root.first_child, root.first_child + root.num_children):
        action = nodes[child].action
        if target[action] > 0:
            actions[place] = action
            counts[place] = target[action]
            place += 1
    return place


@kernel
def _fill(gathers, policies, indices, symmetries, rows, work):
    """Writes probabilities into `rows`, see `Policies.probabilities`. `gathers` are `Symmetries.actions`.

    `work` ([A] uint16) is zero before and after.
    """
    for row in range(len(indices)):
        begin, end = policies.starts[indices[row]], policies.starts[indices[row] + 1]
        total = 0
        for place in range(begin, end):
            work[policies.actions[place]] = policies.counts[place]
            total += policies.counts[place]
        for action in range(len(work)):
            rows[row, action] = work[gathers[symmetries[row], action]] / max(total, 1)
        for place in range(begin, end):
            work[policies.actions[place]] = 0
