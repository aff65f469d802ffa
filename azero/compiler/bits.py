"""Bits of 64-bit words, for bitboards: one instruction or two each in compiled code.

A word shifted by a plain integer, `word >> 8`, stays uint64. NumPy refuses to shift it by a NumPy integer, such as an
action: `bit` and `has_bit` take any integer. Other operations need uint64 on both sides.
"""

import numpy as np

from azero.compiler.jit import ForKernels, shared_with_python, subroutine

ZERO = np.uint64(0)
"""The empty word. A variable that begins as a plain 0 would become a float."""

ONE = np.uint64(1)
"""The word in which only bit 0 is set."""


@shared_with_python
def bit(place):
    """Returns the word (uint64) in which only the bit at `place`, 0 to 63, is set."""
    return ONE << np.uint64(place)


@shared_with_python
def has_bit(word, place):
    """Returns 1 if the bit of `word` (unsigned) at `place`, 0 to 63, is set, else 0 (uint64).

    It is not a boolean, because loops that write planes of booleans were up to twice as slow.
    """
    return word >> np.uint64(place) & ONE


@shared_with_python
def low_bits(count):
    """Returns the word (uint64) in which the lowest `count` bits, 0 to 63, are set."""
    return (ONE << np.uint64(count)) - ONE


_count = ForKernels("word_instruction", "ctpop", python=lambda word: int(word).bit_count())
_trailing = ForKernels(
    "word_instruction", "cttz", False, python=lambda word: (int(word) & -int(word)).bit_length() - 1 if word else 64
)
_leading = ForKernels("word_instruction", "ctlz", False, python=lambda word: 64 - int(word).bit_length())


@subroutine
def count_bits(word):
    """Returns the number of set bits of `word` (uint64)."""
    return _count(word)


@subroutine
def lowest_bit(word):
    """Returns the place of the lowest set bit of `word` (uint64), 0 to 63; 64 if no bit is set."""
    return _trailing(word)


@subroutine
def leading_zeros(word):
    """Returns the number of zeros above the highest set bit of `word` (uint64); 64 if no bit is set."""
    return _leading(word)


@subroutine
def bit_of_rank(word, rank):
    """Returns the place of the set bit of `word` (uint64) that has `rank` set bits below it."""
    for _ in range(rank):
        word &= word - ONE
    return lowest_bit(word)
