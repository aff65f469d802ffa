"""Random numbers and hashes for kernels: splitmix64, with its state in a record that the caller owns.

Every game and every tree has its own generator. Its seed depends only on names, such as the game's number. So a seed
gives the same game for any batch size, number of threads and number of workers.
"""

import hashlib
import math

import numpy as np

from azero.compiler.jit import subroutine

RNG_DTYPE = np.dtype([("counter", np.uint64)])
"""A generator. Records that own a generator, such as trees, have it as a field of this type.

Numba would accept a longer record that begins with a counter in its place, and warn.
"""

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_TWO_TO_MINUS_53 = 1.0 / (1 << 53)


def derive_seed(*names: int | str) -> int:
    """Returns a 64-bit seed derived from names, e.g. `derive_seed(run_seed, "selfplay", iteration, game)`."""
    plain = tuple(name if isinstance(name, str) else int(name) for name in names)
    digest = hashlib.blake2b(repr(plain).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def new_rng(seed: int) -> np.record:
    """Returns a generator for one caller, a record of RNG_DTYPE."""
    rng = np.zeros(1, RNG_DTYPE).view(np.recarray)[0]
    rng.counter = seed
    return rng


@subroutine
def mix(word):
    """Returns `word` (uint64) with its bits mixed, by a bijection (splitmix64, Steele et al. 2014)."""
    word = (word ^ (word >> 30)) * _MIX_1
    word = (word ^ (word >> 27)) * _MIX_2
    return word ^ (word >> 31)


@subroutine
def bucket_of(key, num_buckets):
    """Returns the bucket of a key (uint64) in a hash table, in [0, num_buckets), num_buckets < 2^32."""
    return np.int64((mix(key) >> 32) * np.uint64(num_buckets) >> 32)


@subroutine
def random_bits(rng):
    """Returns 64 random bits (uint64) and advances `rng`, a record with a `counter`."""
    rng.counter = rng.counter + _GOLDEN_GAMMA
    return mix(rng.counter)


@subroutine
def random_below(rng, bound):
    """Returns a random integer in [0, bound), bound < 2^31. Its bias is less than bound / 2^32."""
    return np.int64(((random_bits(rng) >> 32) * np.uint64(bound)) >> 32)


@subroutine
def random_pair_below(rng, bound):
    """Returns two random integers in [0, bound), bound < 2^31, from one call of the generator."""
    bits = random_bits(rng)
    low = bits & np.uint64(0xFFFFFFFF)
    return (
        np.int64((bits >> 32) * np.uint64(bound) >> 32),
        np.int64(low * np.uint64(bound) >> 32),
    )


@subroutine
def random_unit(rng):
    """Returns a random float in [0, 1)."""
    return np.float64(random_bits(rng) >> 11) * _TWO_TO_MINUS_53


@subroutine
def random_normal(rng):
    """Returns a standard normal variate (Box and Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - random_unit(rng)))
    return radius * math.cos(2.0 * math.pi * random_unit(rng))


@subroutine
def random_gamma(rng, shape):
    """Returns a Gamma(shape, 1) variate, shape > 0 (Marsaglia and Tsang 2000; with their boost for shape < 1)."""
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - random_unit(rng)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = random_normal(rng)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(1.0 - random_unit(rng)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return boost * d * v
