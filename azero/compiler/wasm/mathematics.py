"""Elementary functions for modules, since WebAssembly has none: exp, log, pow, sin and cos.

They round almost as well as is possible: numbers that matter are sums of two floats, whose second one is what the first
one lacks. So they mostly have the same bits as those of a C library. There are no fused operations in WebAssembly.

Source:
  Dekker, A floating-point technique for extending the available precision, 1971: two_sum, two_product.
"""

import math
import re
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

_inner = numba.njit(error_model="numpy", _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="never")

_LN2_HIGH = 0.6931471804855391  # of ln 2 the first 33 bits, so that its products with exponents are exact
_LN2_LOW = 7.440617110012397e-11
_LN2_LOWEST = -1.3124698417785255e-27
_MOST = 709.782712893384  # exp of more is infinite
_LEAST = -745.2
_HALF_PI_HIGH = 1.5707963267341256  # the first 33 bits
_HALF_PI_LOW = 6.077100506303966e-11  # the next 33
_HALF_PI_LOWEST = 2.0222662487959506e-21
_SPLITTER = 134217729.0  # 2^27 + 1


@intrinsic
def _bits_of(typing_context, value):
    return types.int64(types.float64), lambda context, builder, signature, args: builder.bitcast(
        args[0], context.get_value_type(types.int64)
    )


@intrinsic
def _from_bits(typing_context, bits):
    return types.float64(types.int64), lambda context, builder, signature, args: builder.bitcast(
        args[0], context.get_value_type(types.float64)
    )


@_inner
def two_sum(a, b):
    """Returns a + b, and its error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@_inner
def two_product(a, b):
    """Returns a b, and its error."""
    product = a * b
    far = _SPLITTER * a
    a_high = far - (far - a)
    far = _SPLITTER * b
    b_high = far - (far - b)
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@_inner
def power_of_two(exponent):
    """Returns 2^exponent, -1022 to 1023."""
    return _from_bits((np.int64(exponent) + 1023) << 52)


@_inner
def exp_of_sum(high, low):
    """Returns exp(high + low): exp(k ln 2 + r) = 2^k exp(r), |r| at most half of ln 2."""
    if high != high:
        return high
    if high > _MOST:
        return math.inf
    if high < _LEAST:
        return 0.0
    k = math.floor(high * 1.4426950408889634 + 0.5)
    r, r_low = two_sum(high - k * _LN2_HIGH, -k * _LN2_LOW)
    r, r_low = two_sum(r, r_low + (low - k * _LN2_LOWEST))
    s = r * r
    # r^2 / 2! + r^3 / 3! + ... + r^14 / 14!
    tail = r * (1.0 / 87178291200.0) + 1.0 / 6227020800.0
    tail = tail * r + 1.0 / 479001600.0
    tail = tail * r + 1.0 / 39916800.0
    tail = tail * r + 1.0 / 3628800.0
    tail = tail * r + 1.0 / 362880.0
    tail = tail * r + 1.0 / 40320.0
    tail = tail * r + 1.0 / 5040.0
    tail = tail * r + 1.0 / 720.0
    tail = tail * r + 1.0 / 120.0
    tail = tail * r + 1.0 / 24.0
    cube = s * r * (tail * r + 1.0 / 6.0)
    square, square_low = two_product(0.5 * r, r)
    total, error = two_sum(1.0, r)
    total, more = two_sum(total, square)
    error += more + (square_low + (r_low + (cube + r * r_low)))
    value = total + error
    k = np.int64(k)
    if k < -1000:
        return value * power_of_two(k + 1000) * power_of_two(-1000)
    if k > 1000:
        return value * power_of_two(k - 1000) * power_of_two(1000)
    return value * power_of_two(k)


@_inner
def log_as_sum(x):
    """Returns log(x) as a sum of two floats, for a finite x above 0.

    With x = 2^k m, m between sqrt(1/2) and sqrt(2), and f = (m - 1) / (m + 1):

        log x = k ln 2 + 2 f + 2 f (f^2 / 3 + f^4 / 5 + ...)
    """
    k = np.int64(0)
    if x < 2.2250738585072014e-308:  # subnormal
        x *= 18014398509481984.0  # 2^54
        k = np.int64(-54)
    bits = _bits_of(x)
    k += (bits >> 52) - 1023
    m = _from_bits((bits & 0x000FFFFFFFFFFFFF) | (1023 << 52))
    if m > 1.4142135623730951:
        m *= 0.5
        k += 1
    a = m - 1.0
    b, b_low = two_sum(m, 1.0)
    f = a / b
    product, product_low = two_product(f, b)
    f_low = ((a - product) - product_low - f * b_low) / b
    s = f * f
    tail = s * (1.0 / 23.0) + 1.0 / 21.0
    tail = tail * s + 1.0 / 19.0
    tail = tail * s + 1.0 / 17.0
    tail = tail * s + 1.0 / 15.0
    tail = tail * s + 1.0 / 13.0
    tail = tail * s + 1.0 / 11.0
    tail = tail * s + 1.0 / 9.0
    tail = tail * s + 1.0 / 7.0
    tail = tail * s + 1.0 / 5.0
    tail = tail * s + 1.0 / 3.0
    low = 2.0 * f_low + 2.0 * f * (s * tail)
    high, error = two_sum(k * _LN2_HIGH, 2.0 * f)
    low += error + k * _LN2_LOW
    return two_sum(high, low)


@_inner
def exp(x):
    return exp_of_sum(x, 0.0)


@_inner
def log(x):
    if x == 0.0:
        return -math.inf
    if x < 0.0:
        return math.nan
    if x == math.inf or x != x:
        return x
    high, low = log_as_sum(x)
    return high + low


@_inner
def pow(x, y):
    """Returns x^y, as in C."""
    if y == 0.0 or x == 1.0:
        return 1.0
    if x != x or y != y:
        return math.nan
    is_whole = math.floor(y) == y
    is_odd = is_whole and math.floor(y / 2.0) * 2.0 != y
    is_negative = x < 0.0 or (x == 0.0 and 1.0 / x < 0.0)
    sign = -1.0 if is_negative and is_odd else 1.0
    size = abs(x)
    if y == math.inf or y == -math.inf:
        if size == 1.0:
            return 1.0
        return math.inf if (size > 1.0) == (y > 0.0) else 0.0
    if x == 0.0:
        return sign * (0.0 if y > 0.0 else math.inf)
    if size == math.inf:
        return sign * (math.inf if y > 0.0 else 0.0)
    if x < 0.0 and not is_whole:
        return math.nan
    high, low = log_as_sum(size)
    product, error = two_product(y, high)
    if product > 800.0 or product < -800.0:
        return sign * (math.inf if product > 0.0 else 0.0)
    return sign * exp_of_sum(product, error + y * low)


@_inner
def sine_or_cosine(x, is_cosine):
    """Returns sin(x) or cos(x) with x = k pi / 2 + r, |r| at most pi / 4. It is exact enough below 2^20 or so."""
    if not abs(x) < math.inf:
        return math.nan
    k = math.floor(x * 0.6366197723675814 + 0.5)
    r, r_low = two_sum(x - k * _HALF_PI_HIGH, -k * _HALF_PI_LOW)
    r_low -= k * _HALF_PI_LOWEST
    s = r * r
    quarter = (np.int64(k) + np.int64(is_cosine)) & 3
    if quarter & 1:  # a cosine
        tail = s * (1.0 / 20922789888000.0) - 1.0 / 87178291200.0
        tail = tail * s + 1.0 / 479001600.0
        tail = tail * s - 1.0 / 3628800.0
        tail = tail * s + 1.0 / 40320.0
        tail = tail * s - 1.0 / 720.0
        tail = tail * s + 1.0 / 24.0
        half, half_low = two_product(0.5 * r, r)
        total, error = two_sum(1.0, -half)
        value = total + (error + (s * s * tail - half_low - r * r_low))
    else:
        tail = s * (-1.0 / 1307674368000.0) + 1.0 / 6227020800.0
        tail = tail * s - 1.0 / 39916800.0
        tail = tail * s + 1.0 / 362880.0
        tail = tail * s - 1.0 / 5040.0
        tail = tail * s + 1.0 / 120.0
        tail = tail * s - 1.0 / 6.0
        value = r + (r * s * tail + r_low * (1.0 - 0.5 * s))
    return -value if quarter & 2 else value


@_inner
def sin(x):
    return sine_or_cosine(x, False)


@_inner
def cos(x):
    return sine_or_cosine(x, True)


@_inner
def fmod(x, y):
    """Returns what x leaves if y is taken from it, with the sign of x: exact, as in C."""
    if not abs(x) < math.inf or y != y or y == 0.0:
        return math.nan
    left, step = abs(x), abs(y)
    if step == math.inf:
        return x
    while left >= step:
        part = step
        while part * 2.0 <= left:
            part *= 2.0
        left -= part
    return -left if x < 0.0 else left


FUNCTIONS: dict[str, tuple[Any, int]] = {
    each.__name__: (each, number) for each, number in ((exp, 1), (log, 1), (sin, 1), (cos, 1), (pow, 2), (fmod, 2))
}
"""The functions by the names of a C library, with the numbers of their arguments, which are float64."""


def needed(names: set[str]) -> dict[str, str]:
    """Returns the functions that stand for these undefined names, such as log, logf or llvm.log.f64: by those names."""
    found = {}
    for name in names:
        match = re.fullmatch(r"llvm\.(\w+)\.f(?:32|64)|(\w+?)f?", name)
        if match and (base := match[1] or (name if name in FUNCTIONS else match[2])) in FUNCTIONS:
            found[name] = base
    return found
