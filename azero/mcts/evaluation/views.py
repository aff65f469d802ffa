"""How the evaluator sees a position: its planes in one of the game's symmetries, at random or the canonical one.

The canonical view of a position is the one whose hash is the smallest. All positions that are symmetric to each other
have the same, so that an answer to one of them answers all.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import subroutine
from azero.compiler.rng import mix
from azero.games import Game
from azero.mcts.evaluation.batch import copy_numbers

_SEED = 0  # of the words
_START = np.uint64(0x9E3779B97F4A7C15)  # the hash of planes that are all zero
_HIGHEST = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)


class Views(NamedTuple):
    """A game's symmetries as kernels use them, S in all, the identity first; planes are E = C * H * W entries."""

    targets: np.ndarray  # [S, E] int32, where each entry of the position's own planes is seen
    words: np.ndarray  # [S, E] uint64, random, of the place where it is seen
    actions: np.ndarray  # [S, A] int32, where each action is seen


def new_views(game: Game) -> Views:
    """Returns the views of a game; the same in every process."""
    num_planes, height, width = game.planes_shape
    cells = np.argsort(game.symmetries.cells, axis=1).astype(np.int32)
    first = np.arange(num_planes, dtype=np.int32)[:, None] * (height * width)
    targets = (first[None] + cells[:, None]).reshape(len(cells), -1)
    words = np.random.default_rng(_SEED).integers(1 << 64, size=targets.shape[1], dtype=np.uint64)
    actions = np.argsort(game.symmetries.actions, axis=1).astype(np.int32)
    return Views(targets, words[targets], actions)


@subroutine
def turn(views, symmetry, bits, scratch):
    """Turns planes, `bits` ([E] uint32), to what is seen through a symmetry."""
    work = scratch.bits
    copy_numbers(bits, work)
    targets = views.targets[symmetry]
    for place in range(len(bits)):
        bits[targets[place]] = work[place]


@subroutine
def find_canonical(views, bits, scratch):
    """Returns the symmetry that leads to the canonical view, the first of several that do; and the view's hash.

        h(view) = start + sum over entries e that are not zero of word(place of e) mix(bits(e))   mod 2^64

    It is never 0. Bits are mixed, since those of numbers such as 1 and -1 differ by a high power of two, of which a
    product keeps few bits.

    Args:
      bits: [E] uint32, the position's own planes: float32 numbers by their bits.
    """
    entries, factors = scratch.entries, scratch.factors  # which are not zero, and their bits, mixed
    count = 0
    for place in range(len(bits)):
        entries[count] = place
        count += bits[place] != 0
    for k in range(count):
        factors[k] = mix(np.uint64(bits[entries[k]]))
    canonical = 0
    lowest = _HIGHEST
    for symmetry in range(len(views.words)):
        words = views.words[symmetry]
        key = _START
        for k in range(count):
            key += words[entries[k]] * factors[k]
        if key < lowest:
            canonical, lowest = symmetry, key
    return canonical, max(lowest, _ONE)
