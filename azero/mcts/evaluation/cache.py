"""The evaluation cache: a table from canonical views (`views.py`) to the evaluator's answers, shared by all trees.

Its memory is allocated once. A view belongs to one bucket of `WAYS` places. A new view replaces the least recently used
one in its bucket. See docs/decisions/0008-evaluation-cache.md.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import bucket_of
from azero.errors import BadInput
from azero.mcts.evaluation.batch import copy_numbers

WAYS = 4
"""Places per bucket."""

BUCKET_DTYPE = np.dtype(
    [
        ("key", np.uint64, (WAYS,)),  # the view's hash; 0: empty
        ("used", np.uint32, (WAYS,)),  # the clock at the last use
        ("value", np.float32, (WAYS,)),  # in [-1, 1], for the player to move
    ],
    align=True,
)
assert BUCKET_DTYPE.itemsize == 64, "a cache line"


class Cache(NamedTuple):
    """Answers in n buckets; with n = 0 the cache is switched off."""

    buckets: np.recarray  # [n] BUCKET_DTYPE
    logits: np.ndarray  # [n * WAYS, A] float32, in the canonical view
    clock: np.ndarray  # [1] uint32, number of answers stored so far


def new_cache(num_actions: int, mib: int) -> Cache:
    """Returns an empty cache of `mib` MiB; 0 switches it off. Memory is allocated when it comes into use.

    Raises BadInput if there is not enough memory.
    """
    bucket_size = BUCKET_DTYPE.itemsize + WAYS * num_actions * np.dtype(np.float32).itemsize
    num_buckets = max((mib << 20) // bucket_size, 1) if mib else 0
    try:
        return Cache(
            buckets=np.zeros(num_buckets, BUCKET_DTYPE).view(np.recarray),
            logits=np.zeros((num_buckets * WAYS, num_actions), np.float32),
            clock=np.ones(1, np.uint32),
        )
    except MemoryError:
        raise BadInput(f"search.cache_mib = {mib} is more memory than this machine has; 64 is plenty") from None


@subroutine
def is_caching(cache):
    """Returns whether the cache is switched on."""
    return len(cache.buckets) > 0


@subroutine
def find_answer(cache, key):
    """Returns the place of the answer to a view, a row of `cache.logits`, or -1 if there is none."""
    index = bucket_of(key, len(cache.buckets))
    bucket = cache.buckets[index]
    for way in range(WAYS):
        if bucket.key[way] == key:
            bucket.used[way] = cache.clock[0]
            return index * WAYS + way
    return -1


@subroutine
def value_at(cache, place):
    """Returns the value of the answer at a place that `find_answer` returned."""
    return cache.buckets[place // WAYS].value[place % WAYS]


@subroutine
def keep_answer(cache, key, logits, value):
    """Stores the answer to a view."""
    index = bucket_of(key, len(cache.buckets))
    bucket = cache.buckets[index]
    way = 0
    for other in range(WAYS):
        if bucket.key[other] == key:
            way = other
            break
        if bucket.used[other] < bucket.used[way]:
            way = other
    cache.clock[0] += np.uint32(1)
    bucket.key[way] = key
    bucket.used[way] = cache.clock[0]
    bucket.value[way] = value
    copy_numbers(logits, cache.logits[index * WAYS + way])


@kernel
def keep_answers(cache, keys, logits, values):
    """Stores the answers to a batch of views: keys [>= B] uint64, logits [B, A] float32, values [B] float32."""
    for row in range(len(logits)):
        keep_answer(cache, keys[row], logits[row], values[row])
