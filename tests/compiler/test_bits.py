"""Tests of bits: equal in Python, interpreted and compiled; any integer type as place; words stay uint64."""

import numpy as np
import pytest

from azero.compiler.bits import (
    ONE,
    ZERO,
    bit,
    bit_of_rank,
    count_bits,
    has_bit,
    leading_zeros,
    low_bits,
    lowest_bit,
)
from azero.compiler.jit import kernel

HIGHEST = np.uint64(1 << 63)


@kernel
def _bits_of(place, words):
    """Writes the results of the helpers for a place. A result that became a float or signed would differ."""
    words[0] = bit(place)
    words[1] = low_bits(place)
    words[2] = has_bit(bit(place), place)
    words[3] = has_bit(~bit(place), place)
    words[4] = (bit(place) | HIGHEST) >> 1


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint64])
@pytest.mark.parametrize("place", [0, 1, 31, 32, 53, 62, 63])
def test_a_place_may_be_an_integer_of_any_kind(kind, place):
    words = np.zeros(5, np.uint64)
    _bits_of(kind(place), words)
    assert words.tolist() == [1 << place, (1 << place) - 1, 1, 0, ((1 << place) | (1 << 63)) >> 1]


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint64])
def test_python_has_words_too(kind):
    for place in range(64):
        assert bit(kind(place)) == 1 << place and low_bits(kind(place)) == (1 << place) - 1
        words = bit(kind(place)), low_bits(kind(place)), has_bit(ONE, kind(place))
        assert all(word.dtype == np.uint64 for word in words)
        assert has_bit(bit(place), kind(place)) and not has_bit(~bit(place), kind(place))
    assert has_bit(np.uint32(0x80000000), kind(31))


def test_constants_are_words():
    assert (ZERO, ONE) == (0, 1) and ZERO.dtype == ONE.dtype == np.uint64


def test_bits_are_counted():
    word = np.uint64(0b1011 << 40)
    assert (count_bits(word), lowest_bit(word), leading_zeros(word)) == (3, 40, 20)
    assert [bit_of_rank(word, rank) for rank in range(3)] == [40, 41, 43]
    assert (count_bits(ZERO), lowest_bit(ZERO), leading_zeros(ZERO)) == (0, 64, 64)
