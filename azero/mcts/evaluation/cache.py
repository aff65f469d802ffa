"""The evaluation cache: a table from canonical views (`views.py`) to the evaluator's answers, shared by all trees.

Its memory is allocated once. A view belongs to one bucket of `WAYS` places. The logits of an answer, of legal actions
only, are in a ring: new answers overwrite the oldest ones. See docs/decisions/0008-evaluation-cache.md.
"""

import math
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import subroutine
from azero.compiler.rng import bucket_of
from azero.errors import BadInput

WAYS = 4
"""Places per bucket."""

BUCKET_DTYPE = np.dtype(
    [
        ("key", np.uint64, (WAYS,)),  # the view's hash; 0: empty
        ("begin", np.int64, (WAYS,)),  # the number of the answer's first logit, among all that were ever written
        ("value", np.float32, (WAYS,)),  # in [-1, 1], for the player to move
        ("count", np.int16, (WAYS,)),  # of the answer's logits
    ],
    align=True,
)

_SHARE_OF_BUCKETS = 3
"""The buckets have one part in this number of the memory. Then they hold as many answers of 7 logits as the ring."""

_BYTES_OF_A_LOGIT = 4 + 2  # with its action


class Cache(NamedTuple):
    """Answers in n buckets, with a ring of m logits; with n = 0 the cache is switched off."""

    buckets: np.recarray  # [n] BUCKET_DTYPE
    logits: np.ndarray  # [m] float32
    actions: np.ndarray  # [m] int16, the action of each logit, in the canonical view
    written: np.ndarray  # [1] int64, number of logits written so far, with those left out at the end of the ring


def new_cache(mib: int) -> Cache:
    """Returns an empty cache of `mib` MiB; 0 switches it off. Memory is allocated when it comes into use.

    Raises BadInput if there is not enough memory.
    """
    size = mib << 20
    num_buckets = size // _SHARE_OF_BUCKETS // BUCKET_DTYPE.itemsize
    num_logits = (size - num_buckets * BUCKET_DTYPE.itemsize) // _BYTES_OF_A_LOGIT
    try:
        return Cache(
            buckets=np.zeros(num_buckets, BUCKET_DTYPE).view(np.recarray),
            logits=np.zeros(num_logits, np.float32),
            actions=np.zeros(num_logits, np.int16),
            written=np.ones(1, np.int64),  # 0 is the beginning in empty places, which are taken first
        )
    except MemoryError:
        raise BadInput(f"search.cache_mib = {mib} is more memory than this machine has; 64 is plenty") from None


@subroutine
def is_caching(cache):
    """Returns whether the cache is switched on."""
    return len(cache.buckets) > 0


@subroutine
def find_answer(cache, key):
    """Returns the place of the answer to a view, or -1 if there is none."""
    index = bucket_of(key, len(cache.buckets))
    bucket = cache.buckets[index]
    for way in range(WAYS):
        if bucket.key[way] == key and cache.written[0] - bucket.begin[way] <= len(cache.logits):
            return index * WAYS + way
    return -1


@subroutine
def value_at(cache, place):
    """Returns the value of the answer at a place that `find_answer` returned."""
    return cache.buckets[place // WAYS].value[place % WAYS]


@subroutine
def read_logits(cache, place, legal, num_legal, action_of, logits):
    """Writes the logits of the answer at a place into `logits` ([A] float32), in the canonical view.

    Returns whether all of the position's `num_legal` legal actions have one. Positions with the same planes may have
    other legal actions, e.g. in Go, because of superko.

    Args:
      legal: [A] int32, the position's legal actions.
      action_of: [A] int32, the place of each action in the canonical view.
    """
    bucket, way = cache.buckets[place // WAYS], place % WAYS
    first = bucket.begin[way] % len(cache.logits)
    for k in range(num_legal):
        logits[action_of[legal[k]]] = math.nan
    for k in range(first, first + bucket.count[way]):
        logits[cache.actions[k]] = cache.logits[k]
    num_missing = 0
    for k in range(num_legal):
        num_missing += math.isnan(logits[action_of[legal[k]]])
    return num_missing == 0


@subroutine
def keep_answer(cache, key, legal, num_legal, action_of, logits, value):
    """Stores the answer to a view of a position; `read_logits` describes the arguments."""
    index, size = bucket_of(key, len(cache.buckets)), len(cache.logits)
    bucket = cache.buckets[index]
    way = 0
    for other in range(WAYS):
        if bucket.key[other] == key:
            way = other
            break
        if bucket.begin[other] < bucket.begin[way]:
            way = other
    begin = cache.written[0]
    if begin % size + num_legal > size:
        begin += size - begin % size
    first = begin % size
    for k in range(num_legal):
        action = action_of[legal[k]]
        cache.actions[first + k] = action
        cache.logits[first + k] = logits[action]
    cache.written[0] = begin + num_legal
    bucket.key[way] = key
    bucket.begin[way] = begin
    bucket.value[way] = value
    bucket.count[way] = num_legal


@subroutine
def keep_answers(cache, views, batch, logits, values):
    """Stores the evaluator's answer to the first R rows of a batch: logits [R, A] float32, values [R] float32.

    The first leaf of each row gives the legal actions. Rows are numbered in the order of their first leaves.
    """
    row = 0
    for leaf in range(batch.waiting[0].leaves):
        if row < len(values) and batch.row[leaf] == row:
            action_of, legal, num_legal = views.actions[batch.symmetry[leaf]], batch.legal[leaf], batch.num_legal[leaf]
            keep_answer(cache, batch.key[row], legal, num_legal, action_of, logits[row], values[row])
            row += 1
