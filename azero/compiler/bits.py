"""Bits of 64-bit words, for bitboards: one instruction each in compiled code."""

import numpy as np
from numba import types
from numba.extending import intrinsic

from azero.compiler.jit import IS_COMPILED, subroutine


@intrinsic
def _count(typingctx, word):
    return types.int64(types.uint64), lambda context, builder, signature, args: builder.ctpop(args[0])


@intrinsic
def _trailing(typingctx, word):
    def generate(context, builder, signature, args):
        return builder.cttz(args[0], context.get_constant(types.boolean, False))

    return types.int64(types.uint64), generate


@intrinsic
def _leading(typingctx, word):
    def generate(context, builder, signature, args):
        return builder.ctlz(args[0], context.get_constant(types.boolean, False))

    return types.int64(types.uint64), generate


@subroutine
def count_bits(word):
    """Returns how many bits of `word` (uint64) are set."""
    return _count(word) if IS_COMPILED else int(word).bit_count()


@subroutine
def lowest_bit(word):
    """Returns the place of the lowest set bit of `word` (uint64), which is how many zeros follow it; 64 without one."""
    if IS_COMPILED:
        return _trailing(word)
    return (int(word) & -int(word)).bit_length() - 1 if word else 64


@subroutine
def leading_zeros(word):
    """Returns how many zeros stand above the highest set bit of `word` (uint64); 64 without one."""
    return _leading(word) if IS_COMPILED else 64 - int(word).bit_length()


@subroutine
def bit_of_rank(word, rank):
    """Returns the place of the set bit of `word` (uint64) that has `rank` set bits below it."""
    for _ in range(rank):
        word &= word - np.uint64(1)
    return lowest_bit(word)
