"""Vectors of 16 floats, for kernels: one register of a CPU with AVX-512, two with AVX2. In WebAssembly: 8 floats.

Each operation is one of LLVM's, on each float alone, so all CPUs compute the same bits. Arrays are float32 and
contiguous. A place in one counts all its floats from the first one, and is not checked.
"""

from collections.abc import Callable
from typing import NoReturn

from azero.compiler.jit import ForKernels
from azero.compiler.machine import LANES as LANES


def _not_compiled(*arguments) -> NoReturn:
    raise RuntimeError("vectors are for compiled kernels only")


def _operation(name: str) -> Callable:
    return ForKernels("vector_operation", name, python=_not_compiled)


load = _operation("load")
"""load(array, place): the floats from a place on."""

store = _operation("store")
"""store(array, place, vector): writes the floats from a place on."""

spread = _operation("spread")
"""spread(array, place): the float at a place, in each lane."""

zeros = _operation("zeros")
"""zeros(): a vector of zeros."""

add = _operation("add")
"""add(a, b): a + b."""

multiply = _operation("multiply")
"""multiply(a, b): a * b."""

fma = _operation("fma")
"""fma(a, b, c): a * b + c, rounded once; in WebAssembly, which has no such instruction, twice."""

larger = _operation("larger")
"""larger(a, b): b where it is greater, else a; so a, if that is NaN."""

where_positive = _operation("where_positive")
"""where_positive(a, b): b where a > 0, else 0."""

fetch = _operation("fetch")
"""fetch(array, place): asks for the cache line of a place, ahead of its use."""
