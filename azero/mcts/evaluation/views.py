"""Views: a position's planes in one of the game's symmetries, either a random one or the canonical one.

The canonical view of a position is the one with the smallest hash. Symmetric positions share it, so that they share one
answer of the evaluator.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE
from azero.compiler.jit import subroutine
from azero.compiler.rng import mix
from azero.games import Game

_SEED = 0  # of the random words
_START = np.uint64(0x9E3779B97F4A7C15)  # the hash of planes that are all zero
_HIGHEST = np.uint64(0xFFFFFFFFFFFFFFFF)


class Views(NamedTuple):
    """A game's S symmetries for kernels, the identity first. Planes have E = C * H * W entries."""

    targets: np.ndarray  # [S, E] int32, the place in the view of each entry of the position's planes
    words: np.ndarray  # [S, E] uint64, the random word of that place
    actions: np.ndarray  # [S, A] int32, the action in the view for each action of the position


def new_views(game: Game) -> Views:
    """Returns the views of a game. They are the same in every process."""
    num_planes, height, width = game.planes_shape
    cells = np.argsort(game.symmetries.cells, axis=1).astype(np.int32)
    first = np.arange(num_planes, dtype=np.int32)[:, None] * (height * width)
    targets = (first[None] + cells[:, None]).reshape(len(cells), -1)
    words = np.random.default_rng(_SEED).integers(1 << 64, size=targets.shape[1], dtype=np.uint64)
    actions = np.argsort(game.symmetries.actions, axis=1).astype(np.int32)
    return Views(targets, words[targets], actions)


@subroutine
def copy_numbers(source, target):
    """Copies an array to another of the same length. A slice assignment would check for overlap and allocate."""
    for place in range(len(source)):
        target[place] = source[place]


@subroutine
def turn(views, symmetry, bits, scratch):
    """Applies a symmetry to planes, `bits` ([E] uint32), in place."""
    work = scratch.bits
    copy_numbers(bits, work)
    targets = views.targets[symmetry]
    for place in range(len(bits)):
        bits[targets[place]] = work[place]


@subroutine
def find_canonical(views, bits, scratch):
    """Returns the symmetry that leads to the canonical view (the first, if there are several), and the view's hash.

        h(view) = start + sum over entries e that are not zero of word(place of e) mix(bits(e))   mod 2^64

    The hash is never 0. Bits are mixed because the bits of numbers such as 1 and -1 differ by a high power of two, of
    which a product keeps only few bits.

    Args:
      bits: [E] uint32, the bits of the position's planes, which are float32.
    """
    entries, factors = scratch.entries, scratch.factors  # the entries that are not zero, and their mixed bits
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
    return canonical, max(lowest, ONE)
