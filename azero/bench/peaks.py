"""The peak rate of multiply-adds of this machine, with which a net's speed is compared.

It uses the CPU's vector instructions on registers, without memory access. Matrix units (AMX) are left out: a net that
uses them can exceed this peak.
"""

import functools
import platform
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from azero.bench.rates import Measure, Work, rate_of_threads, rates_in_turns
from azero.compiler.jit import IS_COMPILED

TYPES = ("fp32", "bf16", "int8")

_FLOAT, _WORD = ir.FloatType(), ir.IntType(32)
_NUM_PASSES = 1_000_000
"""Passes of the loop per call, which takes some milliseconds."""


class Instruction(NamedTuple):
    """A multiply-add on vectors: every 32-bit lane of the sum adds the products of one or more pairs."""

    type: str  # type of the factors
    name: str  # LLVM's name
    needs: str  # the CPU feature that it needs, by LLVM's name
    lanes: int
    products: int  # per lane
    accumulators: int  # independent sums: enough to hide the latency, and no more than there are registers

    @property
    def operations(self) -> int:
        """Returns the operations of one pass of the loop; a multiply-add counts as 2."""
        return 2 * self.products * self.lanes * self.accumulators


_INSTRUCTIONS = (
    Instruction("fp32", "llvm.fma.v16f32", "avx512f", 16, 1, 16),
    Instruction("fp32", "llvm.fma.v8f32", "fma", 8, 1, 12),
    Instruction("fp32", "llvm.fma.v4f32", "neon", 4, 1, 16),
    Instruction("bf16", "llvm.x86.avx512bf16.dpbf16ps.512", "avx512bf16", 16, 2, 16),
    Instruction("int8", "llvm.x86.avx512.vpdpbusd.512", "avx512vnni", 16, 4, 16),
    Instruction("int8", "llvm.x86.avx512.vpdpbusd.256", "avxvnni", 8, 4, 12),
)
"""For each type, the widest first."""


class Peak(NamedTuple):
    """The machine's peak for a type on a number of threads."""

    type: str
    instruction: str | None  # None if the CPU has none for this type, or compilation is off
    threads: int
    operations_per_s: float | None


def cpu_features() -> set[str]:
    """Returns the CPU's features that the compiler knows, by LLVM's names."""
    features = {each[1:] for each in cpu_target.target_context.codegen()._tm_features.split(",") if each[:1] == "+"}
    return features | ({"neon"} if platform.machine() in ("aarch64", "arm64") else set())


def find_instructions(features: set[str]) -> dict[str, Instruction]:
    """Returns the widest available instruction of each type; none if compilation is off."""
    there = [each for each in _INSTRUCTIONS if each.needs in features and IS_COMPILED]
    return {each.type: each for each in reversed(there)}


def peak_measures(thread_counts: Iterable[int]) -> dict[tuple[str, int], Measure]:
    """Returns the measures of operations per second, by type and number of threads, for types with an instruction."""
    works = {kind: _work_of(each) for kind, each in find_instructions(cpu_features()).items()}
    return {
        (kind, num): partial(rate_of_threads, [works[kind]] * num)
        for kind in TYPES
        if kind in works
        for num in thread_counts
    }


def measure_peaks(thread_counts: Sequence[int], seconds: float) -> list[Peak]:
    """Returns a peak for each type and number of threads: the best of several turns, which take `seconds` in all."""
    instructions = find_instructions(cpu_features())
    rates = rates_in_turns(peak_measures(thread_counts), seconds)
    peaks = []
    for kind in TYPES:
        name = instructions[kind].name if kind in instructions else None
        for num in thread_counts:
            peaks.append(Peak(kind, name, num, max(rates[kind, num]) if name else None))
    return peaks


def _work_of(instruction: Instruction) -> Work:
    """Returns the work of the compiled instruction."""
    loop = compile_loop(instruction)

    def work() -> int:
        loop(_NUM_PASSES, 0.5)
        return _NUM_PASSES * instruction.operations

    return work


@functools.cache
def compile_loop(instruction: Instruction) -> Callable[[int, float], float]:
    """Returns a function of a number of passes and of x. Each pass adds products of x to every sum.

    The function returns a value only so that the compiler cannot drop the work.
    """

    @intrinsic
    def loop(typing_context, num, x):
        def generate(context, builder, signature, arguments):
            return _generate_loop(builder, instruction, *arguments)

        return types.float32(types.int64, types.float32), generate

    return numba.njit("float32(int64, float32)", nogil=True)(lambda num, x: loop(num, x))


def _generate_loop(builder: ir.IRBuilder, instruction: Instruction, num: ir.Value, x: ir.Value) -> ir.Value:
    """Generates the loop. LLVM keeps the sums in registers. Factors of other types than fp32 have the bits of x."""
    floats = ir.VectorType(_FLOAT, instruction.lanes)
    is_fp32 = instruction.type == "fp32"
    sums = ir.VectorType(_WORD, instruction.lanes) if instruction.type == "int8" else floats
    factors = floats if is_fp32 else ir.VectorType(_WORD, instruction.lanes)
    function_type = ir.FunctionType(sums, [factors, factors, sums] if is_fp32 else [sums, factors, factors])
    function = cgutils.get_or_insert_function(builder.module, function_type, instruction.name)
    factor = builder.bitcast(_fill(builder, floats, x), factors)
    accumulators = []
    for k in range(instruction.accumulators):  # all different, or LLVM would merge them
        first = builder.fadd(x, ir.Constant(_FLOAT, k))
        accumulators.append(cgutils.alloca_once_value(builder, builder.bitcast(_fill(builder, floats, first), sums)))
    with cgutils.for_range(builder, num):
        for place in accumulators:
            value = builder.load(place)
            inputs = [factor, factor, value] if is_fp32 else [value, factor, factor]
            builder.store(builder.call(function, inputs), place)
    total = ir.Constant(floats, None)
    for place in accumulators:
        total = builder.fadd(total, builder.bitcast(builder.load(place), floats))
    lanes = [builder.extract_element(total, ir.Constant(_WORD, lane)) for lane in range(instruction.lanes)]
    return functools.reduce(builder.fadd, lanes)


def _fill(builder: ir.IRBuilder, vector: ir.VectorType, value: ir.Value) -> ir.Value:
    """Returns a vector with the value in every lane."""
    filled = ir.Constant(vector, ir.Undefined)
    for lane in range(vector.count):
        filled = builder.insert_element(filled, value, ir.Constant(_WORD, lane))
    return filled
